/** Assigns a server's error details to form fields. */

/**
 * Splits error details into those of the form's fields and the rest. `name: must not be empty` belongs to the field
 * `name`, and `allow[2]: …` to the field `allow`.
 */
export function sortDetails(
  details: readonly string[],
  fields: readonly string[],
): { problems: Map<string, string>; rest: string[] } {
  const problems = new Map<string, string>();
  const rest: string[] = [];
  for (const detail of details) {
    const [, field = '', what = ''] = /^(\w+)[^:\s]*: (.+)$/.exec(detail) ?? [];
    if (!fields.includes(field)) rest.push(detail);
    else problems.set(field, [problems.get(field), sentence(what)].filter(Boolean).join(' '));
  }
  return { problems, rest };
}

function sentence(text: string): string {
  const capital = text.charAt(0).toUpperCase() + text.slice(1);
  return /[.!?]$/.test(capital) ? capital : `${capital}.`;
}
