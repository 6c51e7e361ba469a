/** `npx tsx scripts/release/notes.ts 1.0.0` prints the notes of a release. REPOSITORY_URL is where their links lead. */
import { readFileSync } from 'node:fs';
import { releaseNotes } from './changelog.js';

const [asked = ''] = process.argv.slice(2);
const version = asked.replace(/^v/, '');
const changelog = readFileSync(new URL('../../CHANGELOG.md', import.meta.url), 'utf8');
process.stdout.write(releaseNotes(changelog, version, process.env['REPOSITORY_URL'] ?? '..'));
