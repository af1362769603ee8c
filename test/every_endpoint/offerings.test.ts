import assert from 'node:assert/strict';
import { after, test } from 'node:test';
import { endpoints } from '../../src/areas/index.ts';
import type { FiledEndpoint } from '../../src/http/endpoint.ts';
import { testDatabase } from '../support/database.ts';
import { populate, startServer } from '../support/populate.ts';

/** The availability of areas (specification parts 1 and 2, section 1), by the start of their paths. What is not listed is available everywhere. */
const table: readonly [path: RegExp, plan: string | undefined, offerings: readonly string[] | undefined][] = [
  [/^\/member_roles/, 'ultimate', ['self-managed', 'dedicated']],
  [/^\/groups\/:id\/member_roles/, 'ultimate', ['hosted']],
  [/^\/admin\/clusters/, undefined, ['self-managed']],
  [/^\/service_accounts/, 'premium', ['self-managed', 'dedicated']],
  [/^\/experiments/, undefined, ['hosted']],
  [/^\/licenses?\b/, undefined, ['self-managed']],
  [/^\/projects\/:id\/(?:dependenc|vulnerabilities)/, 'ultimate', undefined],
  [/^\/dependency_list_exports/, 'ultimate', undefined],
  [/^\/projects\/:id\/error_tracking\/settings/, undefined, undefined],
  [/^\/projects\/:id\/error_tracking/, undefined, ['hosted']],
];

const expectedOf = ({ path }: FiledEndpoint) => table.find(([pattern]) => pattern.test(path));

test('every endpoint is available on the plans and offerings of its area', () => {
  for (const endpoint of endpoints) {
    const [, plan, offerings] = expectedOf(endpoint) ?? [];
    assert.deepEqual(endpoint.offerings, offerings, endpoint.operation);
    if (expectedOf(endpoint)) assert.equal(endpoint.plan, plan, endpoint.operation);
  }
  for (const [pattern] of table)
    assert.ok(
      endpoints.some(({ path }) => pattern.test(path)),
      String(pattern),
    );
});

const stops: (() => Promise<void>)[] = [];
after(async () => {
  for (const stop of stops) await stop();
});

const paths = { '/admin/clusters': 'self-managed', '/license': 'self-managed', '/experiments': 'hosted' };

for (const offering of ['hosted', 'self-managed', 'dedicated'])
  test(`a ${offering} server answers 404 to areas that it does not have`, async () => {
    const { db } = await testDatabase();
    const server = await startServer(db, { environment: { COPPICE_OFFERING: offering } });
    stops.push(server.stop);
    const { as } = await populate(server);
    for (const [path, at] of Object.entries(paths))
      assert.equal((await as('admin').get(path)).status, at === offering ? 200 : 404, path);
  });
