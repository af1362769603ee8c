/** Shared fixtures for tests of repositories: a project with some files, and the locations of its parts. */
import assert from 'node:assert/strict';
import { type Repository, repositoryOf, resolveBranch } from '../../src/git/index.ts';
import { type World, type WorldOptions, world } from './world.ts';

/** The parameters of a change of one file on the default branch. */
export const onMain = { branch: 'main', commit_message: 'Change a file' };

/** The address of a file below the API. */
export const fileUrl = (project: { id: number }, file_path: string): string =>
  `/projects/${project.id}/repository/files/${encodeURIComponent(file_path)}`;

/** The repository of a world's project. */
export const repositoryIn = ({ services, project }: World): Repository =>
  repositoryOf(services, { id: project.id, storage: 'default' });

/** The commit that a branch of it is at. */
export const headOf = (here: World, branch = 'main'): Promise<string | undefined> =>
  resolveBranch(repositoryIn(here), branch);

/** A world whose project has `README.md`, of the lines `one` and `two`, on `main`. */
export async function filledWorld(options?: WorldOptions): Promise<World> {
  const here = await world(options);
  await addReadme(here);
  return here;
}

/** Makes the first commit of a world's project. */
export async function addReadme({ as, project }: World): Promise<void> {
  const created = await as('maintainer').post(fileUrl(project, 'README.md'), { ...onMain, content: 'one\ntwo\n' });
  assert.equal(created.status, 201);
}
