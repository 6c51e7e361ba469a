/** What keeps a file from being read, in words where it is something usual. */
const PROBLEMS: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: 'this user may not read it',
};

export function fileProblem(error: unknown): string {
  const { code = 'unknown error' } = error as NodeJS.ErrnoException;
  return PROBLEMS[code] ?? code;
}
