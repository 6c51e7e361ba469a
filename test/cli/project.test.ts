import { describe, expect, test } from 'vitest';
import { emptyPlace, placeWithProject, project, succeed } from '../support/cli-place.js';

describe('project create', () => {
  test.concurrent('makes a database with its folder, prints the id and nothing else', async () => {
    const place = await emptyPlace();
    const database = ['--database', `sqlite:${place.path('a/b/c.db')}`];
    const { stdout, stderr } = await succeed(place.run(['project', 'create', 'First', ...database]));
    expect(stdout).toMatch(/^[0-9a-z]{16}\n$/);
    expect(stderr).toBe('');
    const other = await succeed(place.run(['project', 'create', 'Second', '--id', 'My_docs-2', ...database]));
    expect(other.stdout).toBe('My_docs-2\n');
    const list = await succeed(place.run(['project', 'list', '--json', ...database]));
    const rows = [
      { id: stdout.trim(), name: 'First', createdAt: expect.stringMatching(/^\d{4}-.+Z$/) },
      { id: 'My_docs-2', name: 'Second', createdAt: expect.stringMatching(/^\d{4}-.+Z$/) },
    ];
    expect(JSON.parse(list.stdout)).toEqual(rows);
  });

  test.concurrent('gives the project as JSON', async () => {
    const place = await emptyPlace();
    const { stdout } = await succeed(place.run(['project', 'create', 'Über docs', '--id', 'd', '--json']));
    expect(JSON.parse(stdout)).toEqual({
      id: 'd',
      name: 'Über docs',
      createdAt: expect.stringMatching(/^\d{4}-.+Z$/),
    });
  });

  test.concurrent('refuses an id that is taken', async () => {
    const place = await placeWithProject();
    expect(await place.run(['project', 'create', 'Again', '--id', project])).toEqual({
      status: 1,
      signal: null,
      stdout: '',
      stderr: 'caller-stats: There is a project docs already.\n',
    });
  });

  test.concurrent('refuses a bad name and a bad id, both at once', async () => {
    const place = await emptyPlace();
    const { status, stdout, stderr } = await place.run(['project', 'create', ' ', '--id', 'a/b']);
    expect({ status, stdout }).toEqual({ status: 2, stdout: '' });
    expect(stderr).toMatch(/^caller-stats: NAME: .+\ncaller-stats: --id: .+\n$/);
  });
});

test.concurrent('project list is a table', async () => {
  const place = await placeWithProject();
  const { stdout, stderr } = await succeed(place.run(['project', 'list']));
  expect(stdout).toMatch(/^ID {4}NAME {2}CREATED\ndocs {2}Docs {2}\d{4}-\d\d-\d\dT\S+Z\n$/);
  expect(stderr).toBe('');
});
