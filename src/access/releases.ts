/** Access to the releases of projects (docs/reference/releases.md#permissions). */
import type { Access, Caller } from '../http/endpoint.ts';
import { forbidden, notFound } from '../http/errors.ts';
import type { MaybeCaller } from './instance.ts';
import { levels } from './levels.ts';
import { mayReadCode, mayUse, type Project, projectRole, projectVisible } from './projects.ts';

/** Whether a caller who can see a project may read its releases. */
export const mayReadReleases = (project: Project): boolean =>
  mayUse(project, 'releases') && (project.visibility !== 'private' || project.access_level >= levels.guest);

interface Granted<C> {
  caller: C;
  project: Project;
}

/** Grants the project in `:id` to everyone who may read its releases, signed in or not. */
export const releaseReader: Access<Granted<MaybeCaller>> = {
  rule: 'project:read_release',
  anonymous: true,
  async check(call) {
    const granted = await projectVisible.check(call);
    if (!mayReadReleases(granted.project)) throw forbidden();
    return granted;
  },
};

/** The same for callers who may read the code, too. With the repository disabled, the response is 404. */
export const releaseCodeReader: Access<Granted<MaybeCaller>> = {
  rule: 'project:read_release_code',
  anonymous: true,
  async check(call) {
    const granted = await releaseReader.check(call);
    if (granted.project.repository_access_level === 'disabled') throw notFound('Repository');
    if (!mayReadCode(granted.project)) throw forbidden();
    return granted;
  },
};

/** Grants the project in `:id` to callers who may change its releases. Tag protection is checked with the tag. */
export const releaseWriter: Access<Granted<Caller>> = {
  rule: 'project:write_release',
  async check(call) {
    const granted = await projectRole('developer', { feature: 'releases' }).check(call);
    if (granted.project.repository_access_level === 'disabled') throw notFound('Repository');
    return granted;
  },
};
