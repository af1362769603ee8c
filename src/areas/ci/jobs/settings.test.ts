import assert from 'node:assert/strict';
import { test } from 'node:test';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';

test('a project says how long its jobs take, how they fetch, and which caches they share', async () => {
  const here = await built(`
long: {script: make, cache: {key: rust, paths: [target]}}
short: {script: make, timeout: 12 minutes, variables: {GIT_DEPTH: '7'}}
`);
  const { as, at } = here;
  const runner = await runnerOf(here);
  const takeBoth = async () => {
    await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
    const [long, short] = [(await runner.take())!.job, (await runner.take())!.job];
    return [long, short].map(({ runner_info, git_info, allow_git_fetch, cache }) => [
      ...[runner_info.timeout, git_info.depth, allow_git_fetch],
      ...cache.map(({ key }: { key: string }) => key),
    ]);
  };
  assert.deepEqual(await takeBoth(), [
    [3600, 20, true, 'rust-protected'],
    [720, 7, true],
  ]);
  const settings = { build_timeout: 900, build_git_strategy: 'clone', ci_default_git_depth: 3 };
  const kept = await sent(as('maintainer').put(at, { ...settings, ci_separated_caches: false }));
  assert.deepEqual(
    [kept.build_timeout, kept.build_git_strategy, kept.ci_default_git_depth, kept.ci_separated_caches],
    [900, 'clone', 3, false],
  );
  assert.deepEqual(await takeBoth(), [
    [900, 3, false, 'rust-non_protected'],
    [720, 7, false],
  ]);
  await sent(as('maintainer').put(at, { ci_default_git_depth: null }));
  assert.equal((await takeBoth())[0]![1], 0);
});

test('settings of jobs that make no sense are refused', async () => {
  const { as, at } = await built();
  const wrong: [name: string, ...values: unknown[]][] = [
    ['build_timeout', 599, 2_629_747, 1e20, null, ['900']],
    ['build_git_strategy', 'none', 'fetch\0', null],
    ['ci_default_git_depth', -1, 1001, 'all'],
    ['ci_separated_caches', 'perhaps', 2],
  ];
  for (const [name, ...values] of wrong)
    for (const value of values) {
      const { status, body } = await as('maintainer').put(at, { [name]: value });
      assert.equal(status, 400, `${name}: ${value}`);
      assert.ok(JSON.stringify(body).includes(name), JSON.stringify(body));
    }
});
