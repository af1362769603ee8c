import assert from 'node:assert/strict';
import { test } from 'node:test';
import { ownerRules, ownerSections } from './code_owner_rules.ts';

const file = `
# The gardeners
*            @ada
*.md         @docs/writers eve@example.com # @nobody
/beds/       @bob
/beds/*.txt  not-an-owner
lib/**/seeds @eve
/a?c\\ d.txt  @ada
\\#odd        @bob
/paths/*     @ada\r

[Tools][2] @ada @bob
*.sh
/tools/**    @eve

^[Extra]
*.sh @eve
[TOOLS]
/bin/        @bob
[unclosed    @ada
`;

const rulesFor = async (...paths: string[]) =>
  (await ownerRules(ownerSections(file), paths)).map(
    ({ name, section, approvals_required, owners }) => `${section}/${approvals_required} ${name}: ${owners.join(' ')}`,
  );

test('in each section, the last entry that matches a file applies', async () => {
  assert.deepEqual(await rulesFor('x/y.txt'), ['codeowners/1 *: @ada']);
  assert.deepEqual(await rulesFor('x/y.md'), ['codeowners/1 *.md: @docs/writers eve@example.com']);
  assert.deepEqual(await rulesFor('beds/x/y.txt', 'beds/z.md'), ['codeowners/1 /beds/: @bob']);
  assert.deepEqual(await rulesFor('beds/y.txt'), [], 'an entry without owners');
  assert.deepEqual(await rulesFor('beds'), ['codeowners/1 *: @ada'], 'a file of that name');
  for (const path of ['lib/seeds', 'x/lib/y/z/seeds'])
    assert.deepEqual(await rulesFor(path), ['codeowners/1 lib/**/seeds: @eve']);
  assert.deepEqual(await rulesFor('lib/x/seeds2'), ['codeowners/1 *: @ada']);
  assert.deepEqual(await rulesFor('abc d.txt'), ['codeowners/1 /a?c d.txt: @ada']);
  assert.deepEqual(await rulesFor('x/abc d.txt'), ['codeowners/1 *: @ada'], 'a leading slash is the root');
  assert.deepEqual(await rulesFor('x/#odd'), ['codeowners/1 #odd: @bob']);
  assert.deepEqual(await rulesFor('paths/x/y'), ['codeowners/1 *: @ada'], 'a star does not cross a slash');
  assert.deepEqual(await rulesFor('tools/x/y', 'a.sh'), [
    'codeowners/1 *: @ada',
    'Tools/2 *.sh: @ada @bob',
    'Tools/2 /tools/**: @eve',
    'Extra/0 *.sh: @eve',
  ]);
  assert.deepEqual(
    await rulesFor('bin/x'),
    ['codeowners/1 *: @ada', 'Tools/2 /bin/: @bob'],
    'names of sections ignore case',
  );
  assert.deepEqual(await rulesFor(), []);
});

test('if there is too much to evaluate, whole sections apply', async () => {
  const paths = Array.from({ length: 1_001 }, (_, index) => `beds/${index}.txt`);
  const whole = [
    'codeowners/1 codeowners: @ada @docs/writers eve@example.com @bob @eve',
    'Tools/2 Tools: @ada @bob @eve',
    'Extra/0 Extra: @eve',
  ];
  assert.deepEqual(await rulesFor(...paths), whole);
  assert.deepEqual(await rulesFor(...paths.slice(1)), []);
  const many = Array.from({ length: 5_001 }, (_, index) => `/${index} @ada`).join('\n');
  assert.equal(ownerSections(many)[0]!.entries.length, 5_000);
  assert.equal((await ownerRules(ownerSections(many), paths.slice(0, 1).concat('1', '2')))[0]!.name, '/1');
});

test('default owners of many entries are processed once', async () => {
  const owners = Array.from({ length: 600 }, (_, index) => `@user${index}`).join(' ');
  const many = `[Many] ${owners}\n${'*.x\n'.repeat(5_000)}`;
  const [rule] = await ownerRules(ownerSections(many), undefined);
  assert.deepEqual([rule!.name, rule!.owners.length, rule!.owners.at(-1)], ['Many', 500, '@user499']);
});

test('no pattern takes long, and other requests are served in between', async () => {
  const costly = Array.from({ length: 500 }, () => `${'*a'.repeat(120)}b @ada`).join('\n');
  const names = Array.from({ length: 1_000 }, () => 'a'.repeat(4_000));
  let turns = 0;
  let count = setImmediate(function turn() {
    turns++;
    count = setImmediate(turn);
  });
  const [rule] = await ownerRules(ownerSections(costly), names);
  clearImmediate(count);
  assert.equal(rule!.name, 'codeowners');
  assert.ok(turns >= 10, `${turns} turns`);
});
