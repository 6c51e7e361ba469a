/** `npm run updates`, after a build: fails if a package of the release, or its time zone data, are due for an update. */
import { fileURLToPath } from 'node:url';
import { ZONE_DATA_VERSION } from '../src/domain/time/zone-data.js';
import { compareNode, findDue, readNodes, readOutdated, readPublished } from './release/dependencies.js';
import { findNewerZones, machineZones, readZoneVersion } from './zones/versions.js';

const folder = fileURLToPath(new URL('..', import.meta.url));
const published = (name: string) => readPublished(folder, name);
const nodes = readNodes(folder).map((version) => compareNode(version, published));
const outdated = [...readOutdated(folder), ...nodes];
const due = [
  ...findDue(outdated, { published, nowMs: Date.now() }),
  ...findNewerZones(ZONE_DATA_VERSION, readZoneVersion(machineZones)),
];
process.stdout.write(
  due.map((line) => `${line}\n`).join('') ||
    `No package is due; ${outdated.filter(({ current, latest }) => current !== latest).length} have a newer version.\n`,
);
process.exitCode = due.length === 0 ? 0 : 1;
