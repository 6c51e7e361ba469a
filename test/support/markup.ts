/** Checks HTML with html-validate. */
import { HtmlValidate } from 'html-validate';

const validator = new HtmlValidate({
  extends: ['html-validate:standard', 'html-validate:document'],
  elements: ['html5'],
  rules: {
    // The policy of the pages lets in nothing of other servers.
    'require-sri': 'off',
    // They have a role that lists keep.
    'aria-label-misuse': ['error', { allowAnyNamable: true }],
    // Of tables that become blocks on narrow screens, in which Safari then sees no table.
    'no-redundant-role': 'off',
    // The documentation's menu comes before the page.
    'heading-level': ['error', { minInitialRank: 'h2' }],
    // Of code, which is in a `pre`, and in an element of VitePress.
    'prefer-native-element': ['error', { exclude: ['region', 'heading'] }],
  },
});

/** What a closed button controls, which is made when it opens. */
const closed = / aria-expanded="false" aria-controls="[^"]*"/g;

/** A line for each problem of a page. */
export async function markupProblems(page: string): Promise<string[]> {
  const html = page.replaceAll(closed, '');
  const { results } = await validator.validateString(html);
  const lines = html.split('\n');
  return results.flatMap(({ messages }) =>
    messages.map(({ ruleId, message, line, column }) => {
      const at = column - 1;
      return `${ruleId}: ${message}: ${lines[line - 1]?.slice(Math.max(0, at - 40), at + 160)}`;
    }),
  );
}
