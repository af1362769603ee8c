/** SDKs of Unleash as they are, for Node.js and Python: they get the feature flags of a project, and every change of them. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { after, type TestContext, test } from 'node:test';
import { ownAddress } from '../support/address.ts';
import { sent } from '../support/sent.ts';
import { type World, world } from '../support/world.ts';
import { type Missing, pythonWith } from './installed.ts';

const folder = await mkdtemp(path.join(tmpdir(), 'coppice-unleash-'));
after(() => rm(folder, { recursive: true, force: true }));
const environment = await ownAddress();

type Program = string[] | Missing;

const node = async (): Promise<Program> => [process.execPath, path.join(import.meta.dirname, 'unleash_node.ts')];

async function python(): Promise<Program> {
  const found = await pythonWith('UnleashClient');
  return 'missing' in found ? found : [found.python, path.join(import.meta.dirname, 'unleash_python.py')];
}

interface Asker {
  /** Lets the application ask for the flags once more. @returns whether each flag is on for a user */
  flags(user: string): Promise<Record<string, boolean>>;
  /** Ends the program, which has to succeed. */
  stop(): Promise<void>;
}

/** Starts an application that polls for flags. It is given a line with a user for each question, and answers with a line of JSON. */
function startApplication(
  t: TestContext,
  program: readonly string[],
  { url, instance_id, app_name }: { url: string; instance_id: string; app_name: string },
): Asker {
  const [command, ...words] = program;
  const child = spawn(command!, [...words, url, instance_id, app_name, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill());
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  return {
    async flags(user) {
      child.stdin.write(`${user}\n`);
      const { value, done } = await lines.next();
      assert.ok(!done, 'the program has ended');
      return JSON.parse(value);
    },
    async stop() {
      child.stdin.end();
      if (child.exitCode === null) await once(child, 'exit');
      assert.equal(child.exitCode, 0);
    },
  };
}

async function addFlags({ as, project }: World): Promise<void> {
  const developer = as('developer');
  const url = `/projects/${project.id}/feature_flags`;
  const list = await sent(developer.post(`${url}_user_lists`, { name: 'Pickers', user_xids: 'hazel,ash' }));
  const rollout = { groupId: 'orchard', rollout: '100', stickiness: 'default' };
  const strategies: Record<string, object> = {
    everyone: { name: 'flexibleRollout', parameters: rollout },
    rowan: { name: 'userWithId', parameters: { userIds: 'rowan,ash' } },
    listed: { name: 'gitlabUserList', parameters: {}, user_list_id: list.id },
    staging: { name: 'default', parameters: {}, scopes: [{ environment_scope: 'staging' }] },
  };
  for (const [name, strategy] of Object.entries(strategies))
    await sent(developer.post(url, { name, strategies: [strategy] }));
}

async function tell(t: TestContext, program: Program): Promise<void> {
  if ('missing' in program) return t.skip(program.missing);
  const here = await world({ environment });
  const { as, project } = here;
  await addFlags(here);
  const client = `/projects/${project.id}/feature_flags_client`;
  const { unleash_url: url, instance_id } = await sent(as('maintainer').get(client));
  const start = (app_name: string, id = instance_id) =>
    startApplication(t, program, { url, instance_id: id, app_name });
  const production = start('production');
  assert.deepEqual(await production.flags('rowan'), { everyone: true, rowan: true, listed: false, staging: false });
  assert.deepEqual(await production.flags('hazel'), { everyone: true, rowan: false, listed: true, staging: false });
  await sent(as('developer').put(`/projects/${project.id}/feature_flags/everyone`, { active: false }));
  assert.deepEqual(await production.flags('ash'), { everyone: false, rowan: true, listed: true, staging: false });
  await sent(as('developer').put(`/projects/${project.id}/feature_flags/everyone`, { active: true }));
  assert.equal((await production.flags('ash')).everyone, true);
  const { body: seen } = await as('maintainer').get(client);
  assert.match(seen.sdk, /^unleash-(node|python)-sdk:/);

  const staging = start('staging');
  assert.deepEqual(await staging.flags('oak'), { everyone: true, rowan: false, listed: false, staging: true });
  await sent(as('maintainer').post(`${client}/reset_token`));
  await sent(as('developer').delete(`/projects/${project.id}/feature_flags/everyone`));
  assert.equal((await staging.flags('oak')).everyone, true, 'what it has, it keeps');
  const stranger = start('stranger');
  assert.equal((await stranger.flags('rowan')).everyone, false);
  for (const each of [production, staging, stranger]) await each.stop();
}

test('unleash-client of Node.js gets the flags', async (t) => tell(t, await node()));
test('UnleashClient of Python gets the flags', async (t) => tell(t, await python()));
