import assert from 'node:assert/strict';
import { test } from 'node:test';
import { dateIn, newestBelow, unreverted, usualVersions, versionOfTag, withSection } from './section_rules.ts';
import { InvalidTemplate, rendered } from './template_rules.ts';

test('a template renders its input, and nothing else', () => {
  const trailers = { EE: 'yes', 'Co-authored-by': 'Ada' };
  const values = { name: 'a', none: [], rows: [{ name: 'b' }, { name: 'c', more: { deep: 7 } }], no: false, trailers };
  const cases: [string, string][] = [
    ['{{ name }}-{{missing}}-{{ rows }}', 'a--'],
    ['{% each rows %}\n{{ name }}{{ more.deep }};{% end %}', 'b;c7;'],
    ['{% if none %}\nx{% else %}\ny{% end %}', 'y'],
    ['{% each rows %}{% if more %}{{ it.more.deep }}{% end %}{% end %}', '7'],
    ['{{ constructor }}{{ name.length }}{{ __proto__ }}', ''],
    ['one \\\ntwo', 'one two'],
    ['{ { name } } {{{ name }}}', '{ { name } } {a}'],
    ['{{ trailers.EE }}{{ trailers.Co-authored-by }}{{ trailers.ee }}', 'yesAda'],
  ];
  for (const [template, expected] of cases) assert.equal(rendered(template, values), expected, template);
  for (const wrong of [
    '{% if a %}',
    '{% end %}',
    '{% else %}',
    '{% for a %}{% end %}',
    '{{ a b }}',
    'x {{ a',
    '{% if a',
    '{{ a-> }}',
    '{% if %}{% end %}',
  ])
    assert.throws(() => rendered(wrong, values), InvalidTemplate, wrong);
  assert.throws(() => rendered('{% if name %}'.repeat(21), values), InvalidTemplate);
  const rows = Array.from({ length: 1000 }, () => 'x');
  const nested = '{% each rows %}{% each rows %}{{ it }}{{ it }}{% end %}{% end %}';
  assert.throws(() => rendered(nested, { rows }), InvalidTemplate);
});

test('sections are ordered by version, newest first', () => {
  const log = '# Changelog\n\n## 2.0.0 (today)\n\nb\n\n## 1.0.0 (then)\n\na\n';
  const section = (version: string) => `## ${version} (now)\n\nx\n`;
  assert.equal(withSection('', '1.0.0', section('1.0.0')), section('1.0.0'));
  assert.match(withSection(log, 'v1.5.0', section('1.5.0')), /2\.0\.0[\s\S]*1\.5\.0[\s\S]*1\.0\.0/);
  assert.match(withSection(log, '3.0.0', section('3.0.0')), /^# Changelog\n\n## 3\.0\.0[\s\S]*2\.0\.0/);
  assert.match(withSection(log, '0.1.0', section('0.1.0')), /1\.0\.0[\s\S]*\n\n## 0\.1\.0/);
});

test('a range starts at the newest stable version below', () => {
  const tags = ['v1.0.0', '1.2.0', '1.3.0-rc1', 'api-1.10.0', 'release-1.11.0', '2.0.0', 'other', '01.5.0'];
  const usual = usualVersions(tags);
  assert.equal(newestBelow('2.0.0', usual), '1.2.0');
  assert.equal(newestBelow('v1.3.0', usual), '1.2.0');
  assert.equal(newestBelow('1.0.0', usual), undefined);
  assert.equal(versionOfTag('api-1.10.0', {}), '1.10.0');
  assert.equal(versionOfTag('api_1_2', { major: '1', minor: '2', patch: '0', pre: 'rc1', meta: '' }), '1.2.0-rc1');
  assert.equal(versionOfTag('other', { major: '', minor: '', patch: '' }), undefined);
});

test('reverted commits are omitted, unless the revert was reverted', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((letter) => letter.repeat(40));
  const commit = (id: string, reverts?: string) => ({
    id,
    message: reverts ? `Revert\n\nThis reverts commit ${reverts}` : 'x',
  });
  const ids = (commits: { id: string; message: string }[]) => unreverted(commits).map(({ id }) => id);
  assert.deepEqual(ids([commit(b!, a), commit(a!)]), [b]);
  assert.deepEqual(ids([commit(c!, b), commit(b!, a), commit(a!)]), [c, a]);
});

test('dates are formatted by a given format', () => {
  assert.equal(dateIn('%Y-%m-%d %e %B %b %% %q', new Date('2026-03-04T05:06:07Z')), '2026-03-04  4 March Mar % %q');
});
