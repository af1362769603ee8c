/** The targets of the requests: resources of their own, and the secrets of others. */
import assert from 'node:assert/strict';
import { fileUrl } from '../support/repository.ts';
import type { World } from '../support/world.ts';

/**
 * Stands in everything that the other tenant keeps to itself, and in nothing that is sent. Its length is a multiple of three: where a text begins with it,
 * the base64 of the text begins with the base64 of the marker.
 */
const marker = 'kept-to-itself-7f3a9c';
export const marks: readonly string[] = [marker, Buffer.from(marker).toString('base64')];

/** What is named in requests. None of it contains the marker: an error may repeat what was sent. */
export interface Names {
  projects: string[];
  groups: string[];
  users: string[];
  revisions: string[];
  files: string[];
}

async function done(asked: Promise<{ status: number; body: unknown }>): Promise<void> {
  const { status, body } = await asked;
  assert.ok(status < 300, `${status} ${JSON.stringify(body)}`);
}

/** Gives the project of a world two branches, a tag, files and a pipeline, so that requests find something. */
export async function furnish(world: World, text: string): Promise<Names> {
  const { as, project, group, people } = world;
  const api = as('owner');
  const url = `/projects/${project.id}`;
  const write = (name: string, branch: string, more = {}) =>
    done(
      api.post(fileUrl(project, name), {
        branch,
        commit_message: `${text} ${name}`,
        content: `${text}\nof ${name}\n`,
        ...more,
      }),
    );
  await write('README.md', 'main');
  await write('docs/a b.md', 'main');
  await write('topic.txt', 'topic/x', { start_branch: 'main' });
  const job = { script: `echo ${text}`, environment: 'production', artifacts: { paths: ['out.txt'] } };
  const action = { action: 'create', file_path: '.gitlab-ci.yml', content: JSON.stringify({ [`${text} job`]: job }) };
  await done(api.post(`${url}/repository/commits`, { branch: 'main', commit_message: text, actions: [action] }));
  await done(api.post(`${url}/pipeline`, { ref: 'main', variables: [{ key: 'TEXT', value: text }] }));
  await done(api.post(`${url}/triggers`, { description: text }));
  await done(api.post(`${url}/pipeline_schedules`, { description: text, ref: 'main', cron: '0 1 * * *' }));
  await done(api.post(`${url}/repository/tags`, { tag_name: 'v1.0', ref: 'main', message: text }));
  await done(api.post(`${url}/freeze_periods`, { freeze_start: '0 23 * * 5', freeze_end: '0 8 * * 1' }));
  const { body } = await api.get(`${url}/repository/branches/main`);
  const persons = [people.owner, people.developer, people.guest, people.outsider];
  return {
    projects: [String(project.id), project.full_path],
    groups: [String(group.id), group.full_path],
    users: persons.flatMap(({ id, username }) => [String(id), username]),
    revisions: ['main', 'topic/x', 'v1.0', body.commit.id, body.commit.short_id],
    files: ['README.md', 'docs/a b.md', 'docs', 'topic.txt'],
  };
}

/** Furnishes a world with secrets, in every name and text that it has. */
export async function furnishWithSecrets(world: World): Promise<Names> {
  const { as, project, group } = world;
  const api = as('owner');
  await done(api.put(`/groups/${group.id}`, { name: `${marker} group`, description: marker }));
  await done(api.put(`/projects/${project.id}`, { name: `${marker} project`, description: marker }));
  const names = await furnish(world, marker);
  await done(api.post(`/projects/${project.id}/repository/branches`, { branch: `${marker}/branch`, ref: 'main' }));
  return names;
}

/** What the owner of a world sees of it, for comparison. */
export async function viewOf({ as, project, group }: World): Promise<unknown[]> {
  const url = `/projects/${project.id}`;
  const paths = [
    url,
    `${url}/repository/branches`,
    `${url}/repository/tags`,
    `${url}/freeze_periods`,
    `${url}/members/all`,
  ];
  const seen = [];
  for (const path of [
    ...paths,
    `${url}/invited_groups`,
    `${url}/access_requests`,
    `/groups/${group.id}`,
    `/groups/${group.id}/members`,
  ]) {
    const { status, body } = await as('owner').get(path);
    assert.equal(status, 200, path);
    seen.push(body);
  }
  return seen;
}
