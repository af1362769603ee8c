/** Schemathesis, in its newest version, compares the replies of the server with docs/openapi.json. It takes minutes, so it runs only in `npm run test:long`. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { endpoints } from '../../src/areas/index.ts';
import { atFileEnd } from '../support/file_end.ts';
import { isLong } from '../support/runs.ts';
import { world } from '../support/world.ts';

const run = promisify(execFile);

/**
 * The checks. Left out are those that contradict the v4 API: `negative_data_rejection` (undeclared parameters are ignored,
 * text is read as numbers), `positive_data_acceptance` (ids of nothing are 404), `missing_required_header`, `unsupported_method` and
 * `allow_header_conformance` (HEAD is answered wherever GET is), `ignored_auth` (the same answers serve callers without a token), and the stateful
 * `use_after_free`, `ensure_resource_availability` and `object_level_authorization`, for which the document has no links.
 */
const checks = [
  'not_a_server_error',
  'status_code_conformance',
  'content_type_conformance',
  'response_headers_conformance',
  'response_schema_conformance',
];

/** Installs the program into an environment of its own. */
async function install(): Promise<string> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-schemathesis-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  await run('python3', ['-m', 'venv', '--without-pip', folder]);
  await run('python3', ['-m', 'pip', '--python', path.join(folder, 'bin/python'), 'install', '--quiet', 'schemathesis']);
  return path.join(folder, 'bin/st');
}

/** Doors below another root than that of the API, which the program would look for below it. */
const elsewhere = ['--exclude-operation-id-regex', 'Sentry'];

if (isLong) {
  const program = await install();
  for (const area of new Set(endpoints.map(({ tag }) => tag.name)))
    test(`${area}: replies are as the OpenAPI document says`, async () => {
      const { url, people } = await world({ inspectRefusals: false });
      const options = [
        '--checks',
        checks.join(','),
        '--include-tag',
        area,
        ...elsewhere,
        '--header',
        `PRIVATE-TOKEN: ${people.admin.token}`,
      ];
      const limits = ['--phases', 'examples,coverage,fuzzing', '--max-examples', '5', '--no-shrink', '--warnings', 'off'];
      await run(program, ['run', `${url}/api/v4/openapi.json`, '--url', `${url}/api/v4`, ...options, ...limits], {
        cwd: path.dirname(program),
        maxBuffer: 2 ** 26,
      }).catch(({ stdout, stderr }: { stdout: string; stderr: string }) => {
        throw new Error(`${stdout.slice(-20_000)}${stderr}`);
      });
    });
}
