import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { Validator } from '@seriousme/openapi-schema-validator';
import { endpoints } from '../../src/areas/index.ts';
import { openApiDocument } from '../../src/http/openapi.ts';
import { accessTable } from '../support/access_table.ts';
import { world } from '../support/world.ts';

const committed = (name: string) => readFile(path.resolve(import.meta.dirname, '../../docs', name), 'utf8');
const stale =
  'the file does not say what the code does: run `npm run generate`, read the difference, and commit it if it is meant';

test('docs/openapi.json is what the endpoints say', async () => {
  assert.equal(await committed('openapi.json'), `${JSON.stringify(openApiDocument(endpoints), null, 1)}\n`, stale);
});

test('the OpenAPI document is valid', async () => {
  const { valid, errors } = await new Validator().validate(JSON.parse(JSON.stringify(openApiDocument(endpoints))));
  assert.ok(valid, JSON.stringify(errors, null, 1));
});

test('docs/access.txt is who may call what', async () => {
  assert.equal(await committed('access.txt'), await accessTable(await world()), stale);
});

test('no two endpoints answer one method and path, and every operation has its own id', () => {
  const names = endpoints.map(({ method, path: at }) => `${method} ${at.replaceAll(/:\w+/g, ':')}`);
  assert.deepEqual(
    names.filter((name, index) => names.indexOf(name) !== index),
    [],
  );
  const document = JSON.parse(JSON.stringify(openApiDocument(endpoints)));
  const ids = Object.values(document.paths as Record<string, Record<string, { operationId: string }>>).flatMap((item) =>
    Object.values(item).map(({ operationId }) => operationId),
  );
  assert.equal(new Set(ids).size, endpoints.length);
});
