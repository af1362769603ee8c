/** Projects of a world that are mirrors of each other. */
import assert from 'node:assert/strict';
import { allRefs, repositoryOf } from '../../src/git/index.ts';
import { remoteOf } from './git.ts';
import { allowLocalHooks } from './receiver.ts';
import { fileUrl, filledWorld } from './repository.ts';
import type { World } from './world.ts';

/** A world on a server of the file, which may speak to this machine, with a file in its project. */
export async function mirrorPlace(): Promise<World> {
  const here = await filledWorld({});
  await allowLocalHooks(here);
  return here;
}

export interface OtherProject {
  id: number;
  full_path: string;
  /** With the login of its owner. */
  url: string;
}

/** Another project, whose owner is that of the world's. */
export async function otherProject({ as, url, people, group }: World, name: string): Promise<OtherProject> {
  const made = await as('owner').post('/projects', { name, namespace_id: group.id });
  assert.equal(made.status, 201, JSON.stringify(made.body));
  const { id, path_with_namespace: full_path } = made.body;
  return { id, full_path, url: remoteOf(url, full_path, people.owner.token) };
}

/** The branches and tags of a project with their ids, in the order of their names: `{ main: '…', 'tag v1': '…' }`. */
export async function refsOf({ services }: World, id: number): Promise<Record<string, string>> {
  const refs = await allRefs(repositoryOf(services, { id, storage: 'default' }));
  const shown = [...refs].flatMap(([ref, target]) => {
    const [, kind, name] = /^refs\/(heads|tags)\/(.+)$/.exec(ref) ?? [];
    return name === undefined ? [] : [[kind === 'heads' ? name : `tag ${name}`, target] as const];
  });
  return Object.fromEntries(shown.toSorted(([one], [other]) => (one < other ? -1 : 1)));
}

/** Adds a commit of one file to a branch, which begins at `main` if it is not there. @returns its id */
export async function commitTo({ as }: World, project_id: number, branch: string, file: string): Promise<string> {
  const at = `/projects/${project_id}/repository/branches`;
  await as('owner').post(at, { branch, ref: 'main' });
  const change = { branch, commit_message: `Add ${file}`, content: file };
  const made = await as('owner').post(fileUrl({ id: project_id }, file), change);
  assert.equal(made.status, 201, JSON.stringify(made.body));
  return (await as('owner').get(`${at}/${encodeURIComponent(branch)}`)).body.commit.id;
}
