import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { documented, endpoints, pageEndpoints } from '../../src/areas/index.ts';
import { triggers } from '../../src/areas/instance/hook_events/index.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { decisionIndex } from '../support/decision_index.ts';
import { doorTable } from '../support/door_table.ts';
import { withDistrictGraph } from '../support/imports.ts';
import { operationTypes } from '../support/operation_types.ts';
import { world } from '../support/world.ts';

const committed = (name: string) => readFile(path.resolve(import.meta.dirname, '../../docs', name), 'utf8');
const stale =
  'the file does not say what the code does: run `npm run generate`, read the difference, and commit it if it is meant';

test('docs/openapi.json is up to date', async () => {
  assert.equal(await committed('openapi.json'), `${JSON.stringify(openApiDocument(documented), null, 1)}\n`, stale);
});

test('src/pages/operations.ts is up to date', async () => {
  assert.equal(await committed('../src/pages/operations.ts'), operationTypes([...endpoints, ...pageEndpoints]), stale);
});

test('the OpenAPI document is valid', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument(documented))));
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

test('the OpenAPI document has a body for each trigger of webhooks', () => {
  const { webhooks } = openApiDocument(documented) as {
    webhooks: Record<string, { post: { 'x-triggers': string[] } }>;
  };
  const described = Object.values(webhooks).flatMap(({ post }) => post['x-triggers']);
  assert.deepEqual([...new Set(described)].toSorted(), Object.keys(triggers).toSorted());
  assert.equal(Object.keys(webhooks).length, documented.hook_events.length, 'each kind of event has its own name');
});

interface Document {
  paths: Record<string, { get: { responses: Record<number, { content: object }> } }>;
  components: { responses: Record<string, object>; schemas: Record<string, { required: string[] }> };
}

test('the OpenAPI document has the types of bodies, none for 304, and the fields that are always present', () => {
  const { paths, components } = openApiDocument(documented) as unknown as Document;
  const typesOf = (path: string) => Object.keys(paths[path]!.get.responses[200]!.content);
  assert.deepEqual(typesOf('/projects/{id}/repository/archive'), [
    'application/gzip',
    'application/x-bzip2',
    'application/x-tar',
    'application/zip',
  ]);
  assert.deepEqual(typesOf('/license/usage_export'), ['text/csv']);
  assert.ok(typesOf('/projects/{id}/avatar').includes('image/png'));
  assert.ok(typesOf('/projects/{id}/repository/files/{file_path}/raw').includes('text/plain'));
  assert.deepEqual(paths['/projects']!.get.responses[304], { $ref: '#/components/responses/NotModified' });
  assert.ok(!('content' in components.responses.NotModified!));
  const { required } = components.schemas.GroupDetail!;
  assert.ok(required.includes('path') && !required.includes('membership_lock'), 'a field of a plan can be left out');
});

test('docs/doors.txt is up to date: every door has its rules', async () => {
  const { db } = await world({});
  assert.equal(await committed('doors.txt'), await doorTable(db), stale);
});

test('the index of the decisions is up to date', async () => {
  assert.equal(await committed('decisions/README.md'), await decisionIndex(), stale);
});

test('the picture of the districts in docs/architecture.md is up to date', async () => {
  const text = await committed('architecture.md');
  assert.equal(text, await withDistrictGraph(text), stale);
});

const repeated = (names: readonly string[]) => names.filter((name, index) => names.indexOf(name) !== index);

test('each method and path has one endpoint, and each operation has a unique id', () => {
  assert.deepEqual(
    repeated(endpoints.map(({ method, path: at }) => `${method} ${at.replaceAll(/[:*]\w+/g, ':')}`)),
    [],
  );
  const operations = endpoints.map(({ operation }) => operation);
  assert.deepEqual(repeated(operations), []);
  const odd = endpoints.filter(
    ({ operation, method, returns }) =>
      !/^[a-z]+([A-Z][a-z]+)+$/.test(operation) ||
      (method === 'GET' && returns.kind === 'page' && !operation.startsWith('list')),
  );
  assert.deepEqual(
    odd.map(({ operation }) => operation),
    [],
    'an operation is a verb and a noun, and a page is listed',
  );
});

/** The arrays that are not pages, with the reason. */
const wholeLists: Record<string, string> = {
  applySuggestions: 'what one call has applied',
  createContextCommits: 'what one call has added',
  getFileBlame: 'the ranges of one file, which only make sense together',
  listGroupRelationExports: 'the relations of one export',
  listProjectRelationExports: 'the relations of one export',
  listGroupMilestoneBurndownEvents: 'the points of one chart',
  listProjectMilestoneBurndownEvents: 'the points of one chart',
  listGroupSecurityPolicies: 'the policies of a few files, at most five of each',
  listProjectSecurityPolicies: 'the policies of a few files, at most five of each',
  listProjectComplianceFrameworks: 'at most twenty',
  setProjectComplianceFrameworks: 'at most twenty',
  listIssueLinks: 'the reference shows them as a whole',
  listRelatedEpics: 'as the links of issues',
  updateErrors: 'what one call has changed',
};

test('arrays come in pages, which take page and per_page', () => {
  const arrays = endpoints.filter(({ returns }) => (returns.schema as { type?: string } | undefined)?.type === 'array');
  const whole = arrays
    .filter(({ returns }) => returns.kind !== 'page')
    .map(({ operation, alias_of }) => alias_of ?? operation);
  assert.deepEqual([...new Set(whole)].toSorted(), Object.keys(wholeLists).toSorted());
  const unpaged = arrays.filter(
    ({ returns, input = {} }) => returns.kind === 'page' && !('page' in input && 'per_page' in input),
  );
  assert.deepEqual(
    unpaged.map(({ operation }) => operation),
    [],
  );
});

type Described = { description?: string; deprecated?: boolean; name?: string };

/** The places in a document of what says one of these, as `paths./issues.get.parameters.assignee`. */
function placesOf(node: unknown, says: (node: Described) => boolean, place = ''): string[] {
  if (typeof node !== 'object' || node === null) return [];
  const own = says(node) ? [place] : [];
  const nameOf = (key: string, value: Described | null) => (typeof value?.name === 'string' ? value.name : key);
  return [
    ...own,
    ...Object.entries(node).flatMap(([key, value]) => placesOf(value, says, `${place}/${nameOf(key, value)}`)),
  ];
}

test('deprecated items are marked in the OpenAPI document', () => {
  const document = openApiDocument(documented);
  const marked = new Set(placesOf(document, ({ deprecated }) => deprecated === true));
  assert.deepEqual(
    placesOf(
      document,
      ({ description }) => typeof description === 'string' && /^deprecated|old name/i.test(description),
    ).filter((place) => !marked.has(place)),
    [],
  );
  const body = '/requestBody/content/application/json/schema/properties';
  for (const place of [
    '/components/schemas/Issue/properties/epic_iid',
    '/components/schemas/Issue/properties/assignee',
    '/components/schemas/Project/properties/tag_list',
    `/paths//projects/{id}/issues/{issue_iid}/put${body}/epic_iid`,
    `/paths//projects/{id}/issues/{issue_iid}/put${body}/assignee_id`,
    `/paths//projects/{id}/fork/post${body}/namespace`,
    '/paths//admin/clusters/get',
    '/paths//projects/{id}/milestones/get/parameters/include_parent_milestones',
    '/paths//version/get',
  ])
    assert.ok(marked.has(place), place);
});

test('no answer but 204 is without a body, except to HEAD', () => {
  // Clients know these replies.
  const known = new Set(['createChangelog', 'syncPullMirror']);
  const empty = endpoints.filter(
    ({ method, operation, returns }) => returns.kind === 'nothing' && method !== 'HEAD' && !known.has(operation),
  );
  assert.deepEqual(
    empty.filter(({ returns }) => returns.status !== undefined).map(({ method, path }) => `${method} ${path}`),
    [],
  );
});

test('every tag has one description', () => {
  const tags = new Set(endpoints.map(({ tag }) => tag));
  assert.deepEqual(repeated([...tags].map(({ name }) => name)), []);
});

test('every document that the code cites exists', async () => {
  const top = path.resolve(import.meta.dirname, '../..');
  const files = (await readdir(path.join(top, 'src'), { recursive: true })).filter(
    (file) => file.endsWith('.ts') && !file.endsWith('.test.ts'),
  );
  const texts = await Promise.all(files.map((file) => readFile(path.join(top, 'src', file), 'utf8')));
  const cited = new Set(texts.flatMap((text) => [...text.matchAll(/docs\/[\w./-]+\.md/g)].map(([name]) => name)));
  const missing = [...cited].filter((name) => !existsSync(path.join(top, name)));
  assert.deepEqual(missing, []);
});
