import assert from 'node:assert/strict';
import { test } from 'node:test';
import { gzipped, report, sendFile } from '../../../../test/support/artifacts.ts';
import { performQueued } from '../../../../test/support/jobs.ts';
import { built } from '../../../../test/support/pipelines.ts';
import { runnerOf } from '../../../../test/support/runners.ts';
import { sent } from '../../../../test/support/sent.ts';
import { takeReports } from './index.ts';

const bill = (name: string, version: string) =>
  JSON.stringify({
    ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 },
    components: [{ type: 'library', name, version, purl: `pkg:npm/${name}@${version}` }],
  });

test('bills of materials of the newest pipeline of the default branch list dependencies until they are erased', async () => {
  const here = await built('sbom: {script: make, artifacts: {reports: {cyclonedx: gl-sbom.cdx.json}}}\n');
  const { as, at, services } = here;
  const runner = await runnerOf(here);
  const run = async (...documents: string[]) => {
    await sent(as('maintainer').post(`${at}/pipeline`, { ref: 'main' }));
    const job = (await runner.take())!;
    const sending = { ...report('cyclonedx'), name: 'gl-sbom.cdx.json.gz' };
    if (documents.length > 0) assert.equal((await sendFile(here, job, gzipped(...documents), sending)).status, 201);
    await job.end('success');
    await performQueued(services, [takeReports]);
    return job.id;
  };
  const listed = async () => {
    const { body } = await as('developer').get(`${at}/dependencies`);
    return (body as { name: string; version: string; dependency_file_path: string }[]).map(
      ({ name, version, dependency_file_path }) => `${name}@${version} ${dependency_file_path}`,
    );
  };
  await run(bill('pear', '1.0.0'), bill('plum', '2.0.0'));
  assert.deepEqual(await listed(), ['pear@1.0.0 sbom/gl-sbom.cdx.json', 'plum@2.0.0 sbom/gl-sbom.cdx.json (2)']);
  await run();
  assert.deepEqual(await listed(), []);
  const last = await run(bill('pear', '1.1.0'));
  assert.deepEqual(await listed(), ['pear@1.1.0 sbom/gl-sbom.cdx.json']);
  await sent(as('maintainer').post(`${at}/jobs/${last}/erase`));
  assert.deepEqual(await listed(), []);
  await run('{"bomFormat": no');
  const files = await sent(as('developer').get(`${at}/dependencies/files`));
  assert.match(files[0].error, /not valid JSON/);
  assert.equal(files[0].document_id, null);
});
