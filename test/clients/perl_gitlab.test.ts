/** The Perl client GitLab::API::v4, as distributions have it: the stories are told in perl_gitlab_walk.pl. */
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import path from 'node:path';
import { test } from 'node:test';
import { promisify } from 'node:util';
import { newPublicKey } from '../support/public_key.ts';
import { world } from '../support/world.ts';
import { startTeller } from './teller.ts';

/** @returns its version, or in words why it cannot be had on this machine */
async function find(): Promise<{ version: string } | { missing: string }> {
  try {
    const say = 'print GitLab::API::v4->VERSION';
    const { stdout } = await promisify(execFile)('perl', ['-MGitLab::API::v4', '-e', say]);
    return { version: stdout };
  } catch (error) {
    const { message, stderr = '' } = error as Error & { stderr?: string };
    return { missing: `GitLab::API::v4 is not installed: ${stderr.trim().split('\n').at(-1) || message}` };
  }
}

const found = await find();
const teller =
  'missing' in found ? undefined : startTeller('perl', path.join(import.meta.dirname, 'perl_gitlab_walk.pl'));

const stories: Record<string, string> = {
  boards: 'GitLab::API::v4 for Perl: lists of boards of a project and a group are added, moved and removed',
  search: 'GitLab::API::v4 for Perl: issues and projects are searched for',
  releases: 'GitLab::API::v4 for Perl: a release is created with its tag and links, paged, changed and removed',
  environments:
    'GitLab::API::v4 for Perl: environments are added, changed, stopped and deleted, and deployments listed',
  pipelines:
    'GitLab::API::v4 for Perl: statuses are read as pipelines and jobs, and pipelines of a configuration are started',
  badges: 'GitLab::API::v4 for Perl: badges of a project and a group are added, changed, rendered and removed',
  templates: 'GitLab::API::v4 for Perl: anybody lists and reads templates',
  custom_attributes: 'GitLab::API::v4 for Perl: attributes of a user, a group and a project are set and removed',
  broadcast_messages: 'GitLab::API::v4 for Perl: a message is shown to all, changed and removed',
  instance: 'GitLab::API::v4 for Perl: an administrator finds whose key one is, and counts what the server has',
};
for (const [story, name] of Object.entries(stories))
  test(name, async (t) => {
    if ('missing' in found) return t.skip(found.missing);
    t.diagnostic(`GitLab::API::v4 ${found.version}`);
    const { url, people, project, group } = await world();
    assert.equal(await teller!.tell(story, { url, people, project, group, public_key: newPublicKey() }), null);
  });
