/** Makes tables fit: long names break after their parts, and cells know their column, which phones show beside them. */

/** A token of markdown-it. */
interface Token {
  type: string;
  content: string;
  readonly children: Token[] | null;
  attrSet: (name: string, value: string) => void;
}

export function fitTables(tokens: readonly Token[]): void {
  let names: string[] = [];
  let column = 0;
  for (const [at, token] of tokens.entries()) {
    const { content = '', children = [] } = tokens[at + 1] ?? {};
    if (token.type === 'table_open') names = [];
    else if (token.type === 'tr_open') column = 0;
    else if (token.type === 'th_open') names.push(toText(content));
    else if (token.type === 'td_open') fitCell(token, { name: names[column++], children });
  }
}

function fitCell(
  cell: Token,
  { name, children }: { readonly name: string | undefined; readonly children: readonly Token[] | null },
): void {
  if (name) cell.attrSet('data-label', name);
  for (const code of (children ?? []).filter(({ type }) => type === 'code_inline')) breakCode(code);
}

/** The text of a heading without the marks of Markdown. */
function toText(markdown: string): string {
  return markdown.replaceAll(/\[([^\]]*)\]\([^)]*\)/g, '$1').replaceAll(/[`*]/g, '');
}

/** Lets browsers break a line after the parts of a name. A text that readers copy stays as it is. */
function breakCode(code: Token): void {
  const escaped = code.content.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  code.type = 'html_inline';
  code.content = `<code v-pre>${escaped.replaceAll(/(?<=\w)[_./=](?=\w)|[a-z](?=[A-Z])/g, '$&<wbr>')}</code>`;
}
