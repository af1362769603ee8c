import assert from 'node:assert/strict';
import { test } from 'node:test';
import { onMain } from '../../../../../test/support/repository.ts';
import { world } from '../../../../../test/support/world.ts';

test('the languages of a project are detected from its files, with their share', async () => {
  const here = await world();
  const { as, project } = here;
  const url = `/projects/${project.id}/languages`;
  const empty = await as('reporter').get(url);
  assert.deepEqual([empty.status, empty.body], [200, {}]);

  const files = {
    'src/main.TS': 'x'.repeat(600),
    'lib/a.rb': 'x'.repeat(200),
    Rakefile: 'x'.repeat(100),
    Dockerfile: 'x'.repeat(33),
    'odd\nname\t.py': 'x'.repeat(67),
    'README.md': 'x'.repeat(5000),
    'data.json': 'x'.repeat(5000),
    'node_modules/a/index.js': 'x'.repeat(5000),
    'web/jquery.min.js': 'x'.repeat(5000),
    'empty.go': '',
  };
  const actions = Object.entries(files).map(([file_path, content]) => ({ action: 'create', file_path, content }));
  const made = await as('maintainer').post(`/projects/${project.id}/repository/commits`, { ...onMain, actions });
  assert.equal(made.status, 201);
  const shown = await as('reporter').get(url);
  assert.deepEqual(Object.entries(shown.body), [
    ['TypeScript', 60],
    ['Ruby', 30],
    ['Python', 6.7],
    ['Dockerfile', 3.3],
  ]);
  assert.equal((await as('guest').get(url)).status, 403);
  assert.equal((await as('outsider').get(url)).status, 404);
});
