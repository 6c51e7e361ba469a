/** Code to record a first query, in three languages. */
import { quote } from './curl.js';

export const LANGUAGES = ['curl', 'JavaScript', 'Python'] as const;

export type Language = (typeof LANGUAGES)[number];

/** The code that records one query. It reads the key from the environment. */
export function snippet(language: Language, origin: string, projectId: string): string {
  const url = `${origin}/v1/analytics/${encodeURIComponent(projectId)}/assistant/queries`;
  switch (language) {
    case 'curl':
      return `curl ${quote(url)} \\
  --header "Authorization: Bearer $RECORDING_KEY" \\
  --header 'Content-Type: application/json' \\
  --data '{"id": "first-query", "caller": "web"}'`;
    case 'JavaScript':
      return `const response = await fetch(${JSON.stringify(url)}, {
  method: 'POST',
  headers: {
    authorization: \`Bearer \${process.env.RECORDING_KEY}\`,
    'content-type': 'application/json',
  },
  // Your own id of the question: sent twice, it still counts once.
  body: JSON.stringify({ id: 'first-query', caller: 'web' }),
});
console.log(response.status, await response.json());`;
    case 'Python':
      return `import json, os, urllib.request

request = urllib.request.Request(
    ${JSON.stringify(url)},
    # Your own id of the question: sent twice, it still counts once.
    data=json.dumps({"id": "first-query", "caller": "web"}).encode(),
    headers={
        "Authorization": "Bearer " + os.environ["RECORDING_KEY"],
        "Content-Type": "application/json",
    },
)
print(urllib.request.urlopen(request).read().decode())`;
  }
}

/** The command that sets the environment variable with the key. */
export function exportKey(secret: string): string {
  return `export RECORDING_KEY=${quote(secret)}`;
}
