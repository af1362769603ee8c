import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isInRanges } from './ranges.ts';
import { InvalidRecord, readRecord } from './records.ts';
import { ofWord } from './severities.ts';
import { ofVector } from './vectors.ts';
import { orderIn } from './versions.ts';

/** Versions from the oldest to the newest, and those that are the same after `=`, as the documentation of each ecosystem orders them. */
const ordered: [ecosystem: string, versions: string][] = [
  ['npm', '1.0.0-alpha 1.0.0-alpha.1 1.0.0-beta.2 1.0.0-beta.11 1.0.0-rc.1 1.0.0=v1.0.0 1.0.1 1.10.0 2.0.0'],
  ['crates.io', '0.6.9 0.6.13 0.6.14 1.0.0-beta 1.0.0'],
  [
    'Go',
    'v0.0.0-20180228061459-e0a39a4cb421 v0.0.0-20190101000000-000000000000 v1.0.0=1.0.0 v1.6.3 v2.0.0+incompatible',
  ],
  ['Pub', '1.2.3-dev+1 1.2.3-dev+2 1.2.3 1.2.3+1=v1.2.3+1 1.2.3+2 1.2.3+10 1.2.3+10.1 1.2.3+hotfix 1.2.4'],
  ['PyPI', '1.0.dev1 1.0a1 1.0b2 1.0rc1 1.0=1.0.0 1.0.post1 1.1 1!0.5'],
  ['RubyGems', '1.0.a 1.0.a.2 1.0.b1 1.0.rc1 1.0=1.0.0=1 1.0.1 1.9 1.10'],
  [
    'Maven',
    '1-alpha-1=1-a1 1-beta-2 1-milestone-1 1-rc1=1-cr1 1-snapshot 1=1.0=1-ga=1.0.0-final 1-sp 1-* 1-foo 1-1 1.1 1.10',
  ],
  ['NuGet', '1.0.0-alpha 1.0.0-Beta 1.0.0=1.0=1.0.0.0=1.0.0+build 1.0.0.1 1.0.1 1.10'],
  ['Packagist', '1.0.0-dev 1.0.0-alpha1 1.0.0-beta2 1.0.0-RC1 1.0.0=v1.0.0=1.0 1.0.0-p1 1.0.1 1.10.0'],
  ['Debian:12', '1.0~rc1 1.0 1.0-1 1.0-1+deb12u1 1.0-1+deb12u10 1.0a 1.2 1.10 1:0.1'],
  ['Alpine:v3.19', '1.0_alpha1 1.0_rc1 1.0 1.0-r1 1.0-r10 1.0_p1 1.0a 1.0.1 1.005 1.05 1.09 1.1 1.10 10.0'],
  ['ConanCenter', '1.1.1-rc1 1.1.1 1.1.1k 1.2 1.10'],
];

test('versions are ordered by the rules of their ecosystem', () => {
  for (const [ecosystem, text] of ordered) {
    const compare = orderIn(ecosystem);
    const ranks = text.split(' ').flatMap((same, rank) => same.split('=').map((version) => ({ version, rank })));
    for (const one of ranks)
      for (const other of ranks)
        assert.equal(
          Math.sign(compare(one.version, other.version)),
          Math.sign(one.rank - other.rank),
          `${ecosystem}: ${one.version} and ${other.version}`,
        );
  }
});

test('a version is affected from where it was introduced to where it was fixed', () => {
  const events = [{ fixed: '1.2.6' }, { introduced: '1.0.0' }, { introduced: '0' }, { fixed: '0.2.4' }];
  const is = (version: string) => isInRanges('npm', version, [{ type: 'SEMVER', events }]);
  assert.deepEqual(['0.0.8', '0.2.4', '0.9.0', '1.0.0', '1.2.5', '1.2.6', '2.0.0'].map(is), [
    true,
    false,
    false,
    true,
    true,
    false,
    false,
  ]);
  const last = [{ introduced: '0' }, { last_affected: '2.0' }];
  assert.deepEqual(
    ['1.0', '2.0.0', '2.0.1'].map((version) => isInRanges('PyPI', version, [{ type: 'ECOSYSTEM', events: last }])),
    [true, true, false],
  );
  const limited = [{ introduced: '1.0.0' }, { limit: '2.0.0' }];
  assert.deepEqual(
    ['1.5.0', '2.0.0'].map((version) => isInRanges('npm', version, [{ type: 'SEMVER', events: limited }])),
    [true, false],
  );
  assert.equal(
    isInRanges('Go', 'v1.6.2', [{ type: 'SEMVER', events: [{ introduced: '0' }, { fixed: '1.6.3' }] }]),
    true,
  );
});

test('severity comes from the vector, otherwise from the word of the database', () => {
  for (const [vector, severity] of [
    ['AV:N/AC:L/Au:N/C:P/I:P/A:P', 'high'],
    ['CVSS:3.0/AV:N/AC:L/PR:N/UI:N/S:C/C:H/I:H/A:H', 'critical'],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N', 'medium'],
    ['CVSS:3.1/AV:L/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N', 'low'],
    ['CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:N/I:N/A:N', 'info'],
    ['CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:H/VA:H/SC:N/SI:N/SA:N', 'critical'],
    ['CVSS:3.1/nonsense', undefined],
    ['high', undefined],
  ] as const)
    assert.equal(ofVector(vector), severity, vector);
  assert.deepEqual(['MODERATE', 'HIGH', 'unknown', ''].map(ofWord), ['medium', 'high', undefined, undefined]);
});

test('an OSV record is read, and a broken one refused with its reason', () => {
  const record = {
    id: 'GHSA-xvch-5gv4-984h',
    modified: '2022-03-18T00:00:00Z',
    aliases: ['CVE-2021-44906'],
    summary: 'Prototype Pollution in minimist',
    database_specific: { severity: 'MODERATE' },
    affected: [
      {
        package: { ecosystem: 'npm', name: 'minimist' },
        ranges: [
          { type: 'SEMVER', events: [{ introduced: '1.0.0' }, { fixed: '1.2.6' }] },
          { type: 'GIT', repo: 'x', events: [{ introduced: '0' }] },
        ],
      },
      { package: { ecosystem: 'Maven', name: 'a:b' }, versions: ['1.0'] },
      { package: { ecosystem: 'PyPI' } },
    ],
    references: [{ type: 'WEB', url: 'https://example.com' }, { url: 'javascript:x' }],
  };
  const advisory = readRecord(JSON.stringify(record));
  assert.deepEqual(
    [advisory.name, advisory.severity, advisory.withdrawn, advisory.links],
    ['CVE-2021-44906', 'medium', false, ['https://example.com']],
  );
  assert.deepEqual(
    advisory.affected.map(({ ecosystem, advised_name }) => `${ecosystem} ${advised_name}`),
    ['npm minimist', 'Maven a/b'],
  );
  const severity = [{ type: 'CVSS_V3', score: 'CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H' }];
  assert.equal(readRecord(JSON.stringify({ ...record, severity })).severity, 'critical');
  for (const [text, reason] of [
    ['{', /^it is not JSON/],
    ['[]', /^it has no id/],
    ['{"id":"A-1"}', /when it was modified/],
    ['{"id":"A-1","modified":"2022-03-18T00:00:00Z","affected":{}}', /`affected` is not a list/],
  ] as const)
    assert.throws(
      () => readRecord(text),
      (error) => error instanceof InvalidRecord && reason.test(error.message),
    );
});
