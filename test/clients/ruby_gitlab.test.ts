/** The Ruby client gitlab, as distributions have it: the stories are told in ruby_gitlab_walk.rb. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { newPublicKey } from '../support/public_key.ts';
import { addReadme } from '../support/repository.ts';
import { addSubmodule } from '../support/submodule.ts';
import { world } from '../support/world.ts';
import { startTeller } from './teller.ts';

/** @returns its version, or in words why it cannot be had on this machine */
async function find(): Promise<{ version: string } | { missing: string }> {
  try {
    const { stdout } = await promisify(execFile)('ruby', ['-e', 'require "gitlab"; print Gitlab::VERSION']);
    return { version: stdout };
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    return { missing: `The gem gitlab is not installed: ${stderr.trim().split('\n').at(-1) || message}` };
  }
}

const found = await find();
const teller =
  'missing' in found ? undefined : startTeller('ruby', path.join(import.meta.dirname, 'ruby_gitlab_walk.rb'));

const stories: Record<string, string> = {
  boards: 'gitlab for Ruby: boards of a project and a group are added, with lists that are moved and removed',
  search: 'gitlab for Ruby: issues and code are searched for everywhere, in a group and in a project',
  releases: 'gitlab for Ruby: a release is created with its tag and links, changed and removed',
  environments: 'gitlab for Ruby: environments are added, changed, stopped and deleted, and deployments listed',
  pipelines: 'gitlab for Ruby: statuses are read as pipelines and jobs, and pipelines of a configuration are started',
  badges: 'gitlab for Ruby: badges of a project and a group are added, changed, rendered and removed',
  templates: 'gitlab for Ruby: templates are listed and shown',
  broadcast_messages: 'gitlab for Ruby: a message is shown to all, changed and removed',
  keys: 'gitlab for Ruby: an administrator finds whose key one is',
  submodules: 'gitlab for Ruby: a submodule is moved to another commit',
  approvals: 'gitlab for Ruby: rules for the approval of merge requests are added, changed and removed',
  billable_members: 'gitlab for Ruby: the billable members of a group are listed and found',
};
for (const [story, name] of Object.entries(stories))
  test(name, async (t) => {
    if ('missing' in found) return t.skip(found.missing);
    t.diagnostic(`gitlab ${found.version}`);
    const here = await world();
    if (story === 'submodules') {
      await addReadme(here);
      await addSubmodule(here);
    }
    const { url, people, project, group } = here;
    const place = { url, people, project, group, public_key: newPublicKey() };
    assert.equal(await teller!.tell(story, place), null);
  });
