import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { test } from 'node:test';
import { testDatabase } from '../../test/support/database.ts';
import { schemaDump } from './schema_dump.ts';
import { schemaTypes } from './schema_types.ts';

const top = path.resolve(import.meta.dirname, '../..');

for (const [file, describe] of [
  ['src/db/schema.ts', schemaTypes],
  ['docs/schema.sql', schemaDump],
] as const) {
  test(`${file} is what the migrations make; otherwise run \`npm run generate\``, async () => {
    const { db } = await testDatabase();
    assert.equal(await readFile(path.join(top, file), 'utf8'), await describe(db));
  });
}
