/** Schemathesis, in its newest version, compares the replies of the server with docs/openapi.json. It takes minutes, so it runs only in `npm run test:long`. */
import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { endpoints } from '../../src/areas/index.ts';
import { reports, thrown } from '../support/error_tracking.ts';
import { atFileEnd } from '../support/file_end.ts';
import { isLong } from '../support/runs.ts';
import { type World, world } from '../support/world.ts';
import { pythonWith } from './installed.ts';

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

/** How it sends what it knows no format of. */
const hooks = `import schemathesis

@schemathesis.serializer("application/x-sentry-envelope")
def envelope(context, value):
    return value if isinstance(value, bytes) else str(value).encode()
`;

/** @returns the interpreter that has the program */
async function install(): Promise<string> {
  const found = await pythonWith('schemathesis');
  if ('missing' in found) throw new Error(found.missing);
  return found.python;
}

const options = (token: string) => [
  ...['--checks', checks.join(','), '--header', `PRIVATE-TOKEN: ${token}`],
  ...['--phases', 'examples,coverage,fuzzing', '--max-examples', '5', '--no-shrink', '--warnings', 'off'],
];

/** @param at the root of the operations; @param which of them, as options */
async function compare(python: string, { url, people }: World, at: string, which: readonly string[]): Promise<void> {
  const folder = await mkdtemp(path.join(tmpdir(), 'coppice-schemathesis-'));
  atFileEnd(() => rm(folder, { recursive: true, force: true }));
  await writeFile(path.join(folder, 'hooks.py'), hooks);
  const st = path.join(path.dirname(python), 'st');
  const words = [
    st,
    'run',
    `${url}/api/v4/openapi.json`,
    '--url',
    `${url}${at}`,
    ...which,
    ...options(people.admin.token),
  ];
  const env = { ...process.env, SCHEMATHESIS_HOOKS: 'hooks', PYTHONPATH: folder };
  await run(python, words, { cwd: folder, env, maxBuffer: 2 ** 26 }).catch(
    ({ stdout, stderr }: { stdout: string; stderr: string }) => {
      throw new Error(`${stdout.slice(-20_000)}${stderr}`);
    },
  );
}

/** A project with an error and a release, which the operations for clients of Sentry are about. */
async function sentryWorld(): Promise<{ here: World; parameters: Record<string, string> }> {
  const here = await world({ inspectRefusals: false });
  const { errors, report } = await reports(here);
  await report(thrown('A', 'a', { release: '1.0' }), { message: 'b' });
  const [{ id }] = (await here.as('owner').get(errors)).body;
  const [org = ''] = here.project.full_path.split('/');
  const headers = { 'private-token': here.people.admin.token, 'content-type': 'application/json' };
  const body = JSON.stringify({ version: '1.0', projects: [here.project.id] });
  await fetch(`${here.url}/api/0/organizations/${org}/releases/`, { method: 'POST', headers, body });
  return {
    here,
    parameters: { org, project: String(here.project.id), issue: String(id), version: '1.0', event: 'latest' },
  };
}

/** Their paths are below another root than those of the others. */
const forSentry = 'Sentry';

if (isLong) {
  const program = await install();
  for (const area of new Set(endpoints.map(({ tag }) => tag.name)))
    test(`${area}: replies are as the OpenAPI document says`, async () => {
      const here = await world({ inspectRefusals: false });
      await compare(program, here, '/api/v4', ['--include-tag', area, '--exclude-operation-id-regex', forSentry]);
    });
  for (const kind of ['of any place', 'of a place that is there'])
    test(`clients of Sentry, ${kind}: replies are as the OpenAPI document says`, async () => {
      const { here, parameters } = await sentryWorld();
      const given = Object.entries(parameters).map(([name, value]) => `"path.${name}" = ${JSON.stringify(value)}\n`);
      const file = path.join(path.dirname(program), 'schemathesis.toml');
      await writeFile(file, kind === 'of any place' ? '' : `[parameters]\n${given.join('')}`);
      await compare(program, here, '/api', ['--include-operation-id-regex', forSentry]);
    });
}
