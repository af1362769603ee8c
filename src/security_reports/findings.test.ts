import assert from 'node:assert/strict';
import { test } from 'node:test';
import { findingsOf } from './findings.ts';
import { findingsIn } from './index.ts';

const found = (content: object, type = 'sast') => findingsOf(JSON.stringify(content), type).findings;

const injection = {
  ...{ id: '1', name: 'SQL injection', description: 'A query is built of texts', severity: 'High' },
  location: { file: 'app.rb', start_line: 3, end_line: 3 },
  identifiers: [{ type: 'cwe', name: 'CWE-89', value: '89', url: 'https://cwe.example/89' }],
};

test('a finding has a name, a severity and a place, and is the same wherever it is found again', () => {
  const [one] = found({ version: '15.0.0', vulnerabilities: [injection] });
  const { cluster, ...shown } = one!;
  assert.deepEqual(shown, {
    ...{ name: 'SQL injection', severity: 4, description: 'A query is built of texts', solution: null, links: [] },
    location: { file: 'app.rb', start_line: 3, end_line: 3 },
    identifiers: [{ type: 'cwe', name: 'CWE-89', value: '89', url: 'https://cwe.example/89' }],
    ...{ package_name: null, package_version: null },
  });
  const [again] = found({ vulnerabilities: [{ ...injection, id: '2', name: 'Injection', severity: 'Low' }] });
  assert.equal(again!.cluster, cluster);
  for (const other of [
    { ...injection, location: { ...injection.location, start_line: 4 } },
    { ...injection, identifiers: [{ type: 'cwe', value: '90' }] },
  ])
    assert.notEqual(found({ vulnerabilities: [other] })[0]!.cluster, cluster);
  assert.notEqual(found({ vulnerabilities: [injection] }, 'dast')[0]!.cluster, cluster);
});

test('a finding is named by its CVE', () => {
  const identifiers = [
    { type: 'osv', value: 'GHSA-1' },
    { type: 'cve', name: 'CVE-2026-1', value: 'CVE-2026-1' },
  ];
  assert.equal(found({ vulnerabilities: [{ name: 'Overflow', identifiers }] })[0]!.name, 'CVE-2026-1');
});

test('several reports are read one after the other', () => {
  const text = [injection, { ...injection, location: { file: 'b.rb' } }]
    .map((each) => JSON.stringify({ version: '15', vulnerabilities: [each] }))
    .join('\n');
  assert.equal(findingsOf(text, 'sast').findings.length, 2);
});

test('what has another shape is left out', () => {
  for (const text of ['', 'x', 'null', '[]', '{"vulnerabilities": 1}', '{"vulnerabilities": {"a": 1}}', '"'.repeat(9)])
    assert.deepEqual(findingsOf(text, 'sast'), { findings: [], bills: [] }, text);
  const odd = {
    name: ['a'],
    severity: 7,
    location: 'x',
    identifiers: [null, 'a', { url: 'javascript:x' }],
    links: [1],
  };
  const [one] = found({ vulnerabilities: [odd] });
  assert.deepEqual([one!.name, one!.severity, one!.location, one!.links], ['Unnamed', 0, {}, []]);
  assert.deepEqual(one!.identifiers[2], { type: '', name: '', value: '', url: null });
  const [cut] = found({ vulnerabilities: [{ name: `a\0\ud800${'b'.repeat(300)}` }] });
  assert.equal(cut!.name, `a\ufffd${'b'.repeat(252)}`);
});

test('a report of dependencies has a bill of materials for each of its files', () => {
  const dependency_files = [
    {
      ...{ path: 'web/package-lock.json', package_manager: 'npm' },
      dependencies: [{ package: { name: '@a/pear' }, version: '1.0.0' }, { package: {} }],
    },
    { path: 'x', package_manager: 'unheard' },
  ];
  const { bills } = findingsOf(JSON.stringify({ vulnerabilities: [], dependency_files }), 'dependency_scanning');
  const [bill, ...others] = bills.map((each) => JSON.parse(each));
  assert.deepEqual(
    [bill.components.map(({ purl }: { purl: string }) => purl), others],
    [['pkg:npm/%40a/pear@1.0.0'], []],
  );
});

test('a report that unpacks to too much has nothing', async () => {
  const { gzipSync } = await import('node:zlib');
  const work = { owner: 1, content: 'a', signal: new AbortController().signal };
  const bytes = gzipSync(`{"vulnerabilities": [${JSON.stringify(injection)}]${' '.repeat(21 * 1024 * 1024)}}`);
  assert.deepEqual(await findingsIn({ bytes, report_type: 'sast' }, work), { findings: [], bills: [] });
  const small = gzipSync(JSON.stringify({ vulnerabilities: [injection] }));
  assert.equal((await findingsIn({ bytes: small, report_type: 'sast' }, { ...work, content: 'b' })).findings.length, 1);
});
