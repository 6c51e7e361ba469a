/**
 * Writes the bill of materials of each client into a folder: `npx tsx scripts/release/client-bills.ts FOLDER`. Clients consist of
 * this repository's code alone, so that this refuses one that has got a dependency.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

interface Client {
  readonly file: string;
  readonly name: string;
  readonly purl: string;
  /** Where its dependencies would be. */
  readonly manifest: string;
  readonly dependency: RegExp;
}

export function writeClientBills(root: string, folder: string): void {
  const read = (path: string) => readFileSync(join(root, path), 'utf8');
  const { version } = JSON.parse(read('package.json')) as { version: string };
  const module = /^module (.+)$/m.exec(read('clients/go/go.mod'))?.[1] ?? '';
  const clients: readonly Client[] = [
    {
      ...{ file: 'caller-stats-client', name: 'caller-stats-client', purl: 'pkg:npm/caller-stats-client@' },
      ...{ manifest: 'clients/javascript/package.json', dependency: /"(peerD|optionalD|d)ependencies"/ },
    },
    {
      ...{ file: 'caller-stats-python', name: 'caller-stats', purl: 'pkg:pypi/caller-stats@' },
      ...{ manifest: 'clients/python/pyproject.toml', dependency: /^dependencies\b/m },
    },
    {
      ...{ file: 'caller-stats-go', name: module, purl: `pkg:golang/${module}@v` },
      ...{ manifest: 'clients/go/go.mod', dependency: /^require\b/m },
    },
  ];
  for (const { file, name, purl, manifest, dependency } of clients) {
    if (dependency.test(read(manifest)))
      throw new Error(`${manifest} has dependencies. List them in the bill of materials, or remove them.`);
    const ref = `${purl}${version}`;
    const bill = {
      ...{ bomFormat: 'CycloneDX', specVersion: '1.6', version: 1 },
      metadata: {
        component: {
          ...{ type: 'library', name, version, 'bom-ref': ref, purl: ref },
          licenses: [{ license: { id: 'MIT' } }],
        },
      },
      ...{ components: [], dependencies: [{ ref, dependsOn: [] }] },
    };
    writeFileSync(join(folder, `${file}-${version}.sbom.json`), `${JSON.stringify(bill, undefined, 2)}\n`);
  }
}

const [folder] = process.argv.slice(2);
if (folder !== undefined && process.argv[1] === fileURLToPath(import.meta.url))
  writeClientBills(fileURLToPath(new URL('../..', import.meta.url)), folder);
