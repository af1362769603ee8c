/** What holds for every configuration, tried with files that are drawn. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { runs } from '../../test/support/runs.ts';
import { compile } from './compile.ts';
import type { CompileResult } from './types.ts';
import { type Mapping, merged, plainOf, type Value } from './values.ts';

const compiled = (
  content: string,
  files: Readonly<Record<string, string>> = {},
  inputs: Readonly<Record<string, unknown>> = {},
): Promise<CompileResult> =>
  compile({
    content,
    inputs,
    context: { project: 'orchard/apples', sha: 'main' },
    files: {
      read: async (request) => {
        const content = request.type === 'local' ? files[request.path] : undefined;
        if (content === undefined || request.type !== 'local') return { refused: 'file_missing' };
        return { content, context: request.context, blob: null, raw: null };
      },
      paths: async () => Object.keys(files),
    },
    variables: new Map(),
    holds: async () => true,
  });

const tooBig = 'The parsed YAML is too big';

/** Values of keywords, good ones and bad ones. */
const keywords: Readonly<Record<string, readonly string[]>> = {
  script: ['make', '[a, [b, c]]', '[]', '!reference [.base, script]', '{x: 1}'],
  stage: ['test', 'deploy', 'nowhere', '1'],
  extends: ['.base', '[.base, .other]', 'a', 'missing'],
  needs: ['[]', '[a]', '[a, {job: b, optional: true}]', '{pipeline: p}', '7'],
  dependencies: ['[a]', '[]', 'a'],
  parallel: ['2', '{matrix: [{X: [1, 2], Y: z}]}', '500', '{matrix: []}'],
  rules: ['[{if: $A}]', '[{when: always}]', '[[{changes: [a]}], {exists: [b], needs: [a]}]', '[]'],
  only: ['[main]', '{changes: [a]}', '1'],
  when: ['manual', 'delayed', 'never'],
  start_in: ['1 day', '5'],
  image: ['alpine', '{name: a, entrypoint: [b]}', '[]'],
  // A reference in the place of a mapping merges otherwise once it is one.
  variables: ['{A: 1, B: {value: $A, expand: false}}', '{A: [1]}'],
  cache: ['{paths: [a]}', '[{}, {}]', '{key: a/b}'],
  artifacts: ['{paths: [a], expire_in: 1 week}', '{reports: {junit: a}}', '{x: 1}'],
  retry: ['1', '{max: 2, when: always}', '3'],
  environment: ['production', '{name: e, on_stop: a}', '/'],
  trigger: ['g/p', '{include: a.yml}', '[]'],
  allow_failure: ['yes', '{exit_codes: 1}', 'x'],
  inherit: ['{default: false}', '{default: [image], variables: [A]}', '1'],
  tags: ['[a, b]', 'a'],
  unknown: ['1'],
};

const keyword = fc
  .constantFrom(...Object.keys(keywords))
  .chain((key) => fc.constantFrom(...keywords[key]!).map((value) => `  ${key}: ${value}`));
const body = fc.array(keyword, { maxLength: 6 }).map((lines) => (lines.length > 0 ? `\n${lines.join('\n')}` : ' {}'));
const job = (name: string) => body.map((lines) => `${name}:${lines}`);
const globals = fc.constantFrom(
  '',
  'default: {image: alpine, retry: 1}',
  'stages: [test, deploy]',
  'variables: {A: 1}',
  'workflow: {rules: [{if: $A}]}',
  'image: busybox',
);
const file = fc
  .tuple(globals, job('.base'), job('.other'), job('a'), job('b'), job('"c d"'))
  .map((parts) => parts.join('\n'));

test('a file gives the same bytes each time, and so does what it is merged to', async () => {
  await fc.assert(
    fc.asyncProperty(file, async (content) => {
      const [first, second] = [await compiled(content), await compiled(content)];
      assert.equal(JSON.stringify(first), JSON.stringify(second));
      assert.ok(first.errors.length > 0 || first.jobs.length > 0);
      if (first.merged_yaml === null) return;
      const again = await compiled(first.merged_yaml);
      const { errors, jobs, stages, variables, workflow, merged_yaml } = first;
      assert.deepEqual(
        [again.errors, again.jobs, again.stages, again.variables, again.workflow, again.merged_yaml],
        [errors, jobs, stages, variables, workflow, merged_yaml],
      );
    }),
    { numRuns: runs(100, 20_000) },
  );
});

test('jobs have names of their own, and need only each other', async () => {
  await fc.assert(
    fc.asyncProperty(file, async (content) => {
      const { jobs, stages } = await compiled(content);
      const names = new Set(jobs.map(({ name }) => name));
      assert.equal(names.size, jobs.length);
      for (const { stage, needs = [] } of jobs) {
        assert.ok(stages.includes(stage));
        for (const need of needs) assert.ok(need.type !== 'job' || need.optional || names.has(need.job));
      }
    }),
    { numRuns: runs(100, 10_000) },
  );
});

test('no text makes it throw', async () => {
  const broken = fc
    .tuple(
      file,
      fc.array(
        fc.tuple(
          fc.nat(),
          fc.constantFrom(
            '',
            '[',
            '{',
            ':',
            '- ',
            '&a ',
            '*a',
            '!',
            '\n',
            '---\n',
            '<<: *a',
            '"',
            '|',
            '$[[ x ]]',
            '\t',
            '\u0000',
            '__proto__: 1',
          ),
        ),
      ),
    )
    .map(([content, changes]) =>
      changes.reduce((text, [at, what]) => {
        const place = at % (text.length + 1);
        return text.slice(0, place) + what + text.slice(place + 1);
      }, content),
    );
  await fc.assert(
    fc.asyncProperty(fc.oneof(broken, fc.string({ maxLength: 200 })), async (content) => {
      const { errors, jobs } = await compiled(content);
      assert.ok(errors.length > 0 || jobs.length > 0);
    }),
    { numRuns: runs(200, 50_000) },
  );
});

/** Mappings in which a key has a mapping in all of them or in none. */
const { tree } = fc.letrec<{ tree: Mapping }>((tie) => ({
  tree: fc
    .tuple(
      fc.dictionary(
        fc.constantFrom('a', 'b', '__proto__'),
        fc.oneof(fc.integer(), fc.constant(null), fc.constant(['x'])),
        { noNullPrototype: false },
      ),
      fc.option(tie('tree'), { maxDepth: 3, nil: undefined }),
      fc.option(tie('tree'), { maxDepth: 3, nil: undefined }),
    )
    .map(
      ([values, c, d]) =>
        new Map<string, Value>([
          ...Object.entries(values),
          ...(c ? [['c', c] as const] : []),
          ...(d ? [['d', d] as const] : []),
        ]),
    ),
}));

test('merging is associative, while no key is a mapping here and something else there', () => {
  fc.assert(
    fc.property(tree, tree, tree, (first, second, third) => {
      assert.deepEqual(plainOf(merged(merged(first, second), third)), plainOf(merged(first, merged(second, third))));
    }),
    { numRuns: runs(200, 20_000) },
  );
});

test('what explodes after it was read is refused', async () => {
  const lines = Array.from({ length: 5_000 }, (_, n) => `l${n}`).join(', ');
  const extending = [
    `.base: {script: [${lines}]}`,
    ...Array.from({ length: 1_000 }, (_, n) => `j${n}: {extends: .base}`),
  ];
  const referring = [`.a0: {script: [${lines}]}`];
  for (let n = 1; n < 30; n++)
    referring.push(`.a${n}: {script: [!reference [.a${n - 1}, script], !reference [.a${n - 1}, script]]}`);
  const chain = Array.from({ length: 2_000 }, (_, n) => `.a${n}: {script: !reference [.a${n + 1}, script]}`);
  const long = `.a: {script: ["${'x'.repeat(1_000_000)}"]}\n${Array.from({ length: 30 }, (_, n) => `j${n}: {extends: .a}`).join('\n')}`;
  const nesting = Array.from(
    { length: 90 },
    (_, n) => `.a${n}: ${'['.repeat(90)}!reference [.a${n + 1}]${']'.repeat(90)}`,
  );
  for (const content of [
    [...nesting, '.a90: [x]'].join('\n'),
    extending.join('\n'),
    [...referring, 'job: {script: !reference [.a29, script]}'].join('\n'),
    chain.join('\n'),
    long,
  ])
    assert.deepEqual((await compiled(content)).errors, [tooBig], content.slice(0, 60));
});

test('jobs and needs are counted before they are made', async () => {
  const many = Array.from({ length: 300 }, (_, n) => `j${n}: {script: a, parallel: 200}`).join('\n');
  assert.deepEqual((await compiled(many)).errors, [
    'Pipeline size limit exceeded! The number of jobs has to be less than 20000',
  ]);
  const needy = `a: {script: a, parallel: 200}\n.n: &n [${'a, '.repeat(200)}]\nb: {script: b, needs: *n}`;
  assert.deepEqual((await compiled(needy)).errors, [
    'b: one job can only need 50 others, but you have listed 40000. See needs keyword documentation for more details',
  ]);
  const { jobs } = await compiled(
    `a: {script: a, parallel: 200}\nb: {script: b, dependencies: [${'a, '.repeat(1_000)}], stage: deploy}`,
  );
  assert.equal(jobs.at(-1)?.type === 'job' && jobs.at(-1)?.type, 'job');
  assert.equal((jobs.at(-1) as { dependencies?: string[] }).dependencies?.length, 200);
});

test('files are counted together', async () => {
  const large = `.a: "${'x'.repeat(2_000_000)}"\n`;
  const files = Object.fromEntries(Array.from({ length: 6 }, (_, n) => [`${n}.yml`, large]));
  const include = `include: [${Object.keys(files).join(', ')}]\njob: {script: a}`;
  assert.deepEqual((await compiled(include, files)).errors, ['Total size of combined CI/CD configuration is too big']);
  const doubling = { 'a.yml': 'include: [a.yml, a.yml]' };
  assert.deepEqual((await compiled('include: a.yml', doubling)).errors, [
    'Maximum of 150 nested includes are allowed!',
  ]);
  assert.deepEqual((await compiled('include: a.yml\njob: {script: a}', { 'a.yml': `${'['.repeat(200)}` })).errors, [
    `\`a.yml\`: ${tooBig}`,
  ]);
});

test('a chain of needs may be as long as there are jobs', async () => {
  const jobs = Array.from({ length: 5_000 }, (_, n) => `j${n}: {script: a, needs: [${n > 0 ? `j${n - 1}` : ''}]}`);
  assert.equal((await compiled(jobs.join('\n'))).jobs.length, 5_000);
});

test('inputs may be nested as deeply as files', async () => {
  let nested: unknown = 'x';
  for (let level = 0; level < 50_000; level++) nested = [nested];
  assert.deepEqual((await compiled('job: {script: a}', {}, { nested })).errors, [tooBig]);
});

test('errors are not endless', async () => {
  const twice = Array.from({ length: 150_000 }, (_, n) => `k${n >> 1}: 1`).join('\n');
  assert.equal((await compiled(`.a: {x: 1}\n${twice}`)).warnings.length, 1_000);
  const wrong = Array.from(
    { length: 3_000 },
    (_, n) => `j${n}: {script: a, retry: ${'x'.repeat(1_000)}, ${'y'.repeat(5_000)}: 1}`,
  ).slice(0, 300);
  const { errors } = await compiled(wrong.join('\n'));
  assert.equal(errors.length, 600);
  assert.ok(errors.every((error) => error.length <= 2_000));
  const more = Array.from({ length: 1_001 }, (_, n) => `j${n}: {x: 1}`).join('\n');
  assert.equal((await compiled(more)).errors.length, 1_000);
});
