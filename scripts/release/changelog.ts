/** Sections of `CHANGELOG.md`: each begins with `## VERSION, DATE`, and changes since the last release with `## Unreleased`. */

const UNRELEASED = '## Unreleased';

/** What the section of a version says, without its heading; undefined if there is no such section. */
export function findSection(changelog: string, version: string): string | undefined {
  const section = changelog.split(/^(?=## )/m).find((one) => versionOf(one) === version);
  return section?.slice(section.indexOf('\n')).trim();
}

/** The versions that have a section with a date. */
export function releasedVersions(changelog: string): string[] {
  return [...changelog.matchAll(/^## (\S+), \d{4}-\d{2}-\d{2}$/gm)].map(([, version = '']) => version);
}

/** Gives the changes since the last release a version and a date. `date` is `YYYY-MM-DD`. */
export function releaseChanges(changelog: string, version: string, date: string): string {
  if (releasedVersions(changelog).includes(version))
    throw new Error(`CHANGELOG.md already has a section of ${version}.`);
  if (!changelog.includes(`${UNRELEASED}\n`)) throw new Error(`CHANGELOG.md has no section "${UNRELEASED}".`);
  const released = changelog.replace(`${UNRELEASED}\n`, `## ${version}, ${date}\n`);
  if (findSection(released, version) === '')
    throw new Error('The section "Unreleased" of CHANGELOG.md is empty.');
  return released;
}

/**
 * The text of a release: the section of its version. Links to files lead to the repository at the tag, because a release
 * has no files beside it.
 */
export function releaseNotes(changelog: string, version: string, repositoryUrl: string): string {
  const section = findSection(changelog, version);
  if (section === undefined || section === '') throw new Error(`CHANGELOG.md has no changes of ${version}.`);
  const files = `${repositoryUrl}/blob/v${version}/`;
  const linked = section.replaceAll(/\]\((?!https?:|#)([^)]+)\)/g, `](${files}$1)`);
  return `${linked}

To install it and to verify what you downloaded: [Install](${files}docs/guides/run/install.md).
`;
}

function versionOf(section: string): string | undefined {
  return /^## ([^\s,]+)/.exec(section)?.[1];
}
