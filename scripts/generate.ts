// `npm run generate`: writes the generated files. They are committed, and tests fail when one is stale.
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { auditedNouns } from '../src/areas/audited.ts';
import { documented, endpoints, pageEndpoints } from '../src/areas/index.ts';
import { auditTriggers, tableList } from '../src/areas/instance/audit_events/index.ts';
import { connect } from '../src/db/index.ts';
import { schemaDump } from '../src/db/schema_dump.ts';
import { schemaTypes } from '../src/db/schema_types.ts';
import { openApiDocument } from '../src/http/openapi.ts';
import { accessTable } from '../test/support/access_table.ts';
import { decisionIndex } from '../test/support/decision_index.ts';
import { doorTable } from '../test/support/door_table.ts';
import { withDistrictGraph } from '../test/support/imports.ts';
import { withMemberTables } from '../test/support/member_tables.ts';
import { operationTypes } from '../test/support/operation_types.ts';
import { browsersOf, openPages, pageTable } from '../test/support/page_access.ts';
import { unofferedTable } from '../test/support/page_operations.ts';
import { populate, startServer } from '../test/support/populate.ts';
import { startTestServer } from '../test/support/server.ts';
import { showAll } from '../test/support/shown_world.ts';

const top = path.resolve(import.meta.dirname, '..');

async function write(file: string, content: string) {
  await mkdir(path.dirname(path.join(top, file)), { recursive: true });
  await writeFile(path.join(top, file), content);
  console.log(`Wrote ${file}.`);
}

await write(
  'docs/architecture.md',
  await withDistrictGraph(await readFile(path.join(top, 'docs/architecture.md'), 'utf8')),
);
const providers = 'docs/reference/sign_in_providers.md';
await write(providers, withMemberTables(await readFile(path.join(top, providers), 'utf8')));
await write('docs/decisions/README.md', await decisionIndex());
await write('src/pages/operations.ts', operationTypes([...endpoints, ...pageEndpoints]));
await write('migrations/audited.sql', auditTriggers(auditedNouns));
await write('src/db/audited_tables.ts', tableList(auditedNouns));
const server = await startTestServer();
const db = connect({ connectionString: server.template, max: 2 });
try {
  await write('src/db/schema.ts', await schemaTypes(db));
  await write('docs/schema.sql', await schemaDump(db));
  const running = await startServer(db, {});
  const rules = await accessTable(await populate(running));
  const shown = await showAll(await populate(running));
  const tables = [rules, pageTable(await openPages(shown, await browsersOf(shown))), await unofferedTable()];
  await write('docs/access.txt', tables.join('\n'));
  await running.stop();
  await write('docs/doors.txt', await doorTable(db));
  await write('docs/openapi.json', `${JSON.stringify(openApiDocument(documented), null, 1)}\n`);
} finally {
  await db.destroy();
  await server.stop();
}
