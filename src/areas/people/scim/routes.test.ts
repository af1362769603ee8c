import assert from 'node:assert/strict';
import { test } from 'node:test';
import { world } from '../../../../test/support/world.ts';

test('without a provider in the file there is no SCIM', async () => {
  const { as, url } = await world({});
  const { status, body } = await as('admin').post('/application/scim_token', {});
  assert.deepEqual([status, body.message], [400, '400 Bad request - The file of providers names no provider for SCIM']);
  assert.equal((await as('owner').post('/application/scim_token', {})).status, 403);
  assert.equal((await fetch(`${url}/api/scim/v2/application/Users`)).status, 401);
});
