import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { commitTo, put, temporaryRepository, userGit } from '../../test/support/bare_repository.ts';
import { runs } from '../../test/support/runs.ts';
import { lastCommitsIn } from './index.ts';

/** A walk through a short history ends much earlier. */
const wait_ms = 60_000;

const pathOf = fc.constantFrom('a', ':b', 'd/x', 'd/y', 'd/e/z', 'ü/\x01', 'd e');

test('the last commits of entries are those that git finds for each', async (t) => {
  const repository = await temporaryRepository(t);
  let tries = 0;
  const written = fc.array(fc.uniqueArray(pathOf, { minLength: 1, maxLength: 3 }), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(written, async (commits) => {
      const branch = `branch-${tries++}`;
      let parent: string | null = null;
      for (const [index, paths] of commits.entries())
        parent = await commitTo(repository, {
          branch,
          parent,
          message: `Commit ${index}`,
          changes: paths.map((path) => put(path, `${Math.random()}`)),
        });
      for (const folder of ['', 'd']) {
        const listed = await userGit(repository.path, 'ls-tree', '-z', '--name-only', `${parent}:${folder}`).catch(
          () => '',
        );
        const names = listed.split('\0').filter((name) => name !== '');
        const found = await lastCommitsIn(repository, parent!, { folder, names, wait_ms });
        assert.deepEqual([...found.keys()].sort(), names.toSorted());
        for (const name of names) {
          const path = folder === '' ? name : `${folder}/${name}`;
          const id = await userGit(
            repository.path,
            '--literal-pathspecs',
            'log',
            '-1',
            '--format=%H',
            parent!,
            '--',
            path,
          );
          assert.equal(found.get(name), id.trim(), path);
        }
      }
    }),
    { numRuns: runs(10, 200) },
  );
});

test('what was found of a folder counts as long as the folder stays as it is', async (t) => {
  const repository = await temporaryRepository(t);
  const first = await commitTo(repository, { message: 'One', changes: [put('d/x', '1'), put('a', '1')] });
  const second = await commitTo(repository, { parent: first, message: 'Two', changes: [put('a', '2')] });
  const asked = { folder: 'd', names: ['x'], wait_ms };
  const before = await lastCommitsIn(repository, first, asked);
  assert.equal(await lastCommitsIn(repository, second, asked), before);
  assert.deepEqual([...before], [['x', first]]);
});
