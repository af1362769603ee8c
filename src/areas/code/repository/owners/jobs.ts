/** Background jobs that maintain and measure repositories. */
import { Type } from 'typebox';
import type { Database } from '../../../../db/index.ts';
import { maintain } from '../../../../git/index.ts';
import { Id } from '../../../../http/index.ts';
import { job } from '../../../../jobs/index.ts';
import type { PushFollower, RepositoryKind } from '../../../../services/index.ts';
import { ownedRepository } from '../git.ts';
import { isMoving } from '../moving/place_actions.ts';
import { projectRepositories } from './project_kind.ts';
import { findUnknownReadmes } from './readme_actions.ts';
import { measureUnmeasured } from './size_actions.ts';

/** The delay before maintenance: changes made meanwhile are covered by the same run. */
const pause_s = 60;

/** Enqueued by `maintainSoon`. */
export const maintainRepository = job('maintain_repository', {
  input: { kind: Type.String(), id: Id },
  retries: 2,
  run: async ({ input, ...services }) => {
    const kind = services.repositories.kinds.find(({ name }) => name === input.kind);
    const owner = await kind?.find(services.db, input.id);
    if (!kind || !owner) return;
    if (await isMoving(services.db, { kind, owner })) return maintainSoon(services.db, kind, owner.id);
    await maintain(ownedRepository(services, { kind, owner }));
    await kind.measure(services, owner);
  },
});

/**
 * Schedules the maintenance of a repository. The owner is the job key, so that a busy repository has at most one waiting job.
 * @param after_s the delay for further changes; changes in quick succession are covered by one run
 */
export const maintainSoon = (
  tx: Database,
  { name }: RepositoryKind,
  id: number,
  after_s: number = pause_s,
): Promise<void> =>
  maintainRepository.enqueue(tx, { kind: name, id }, { key: `${name}:${id}`, ...(after_s > 0 ? { after_s } : {}) });

/** Schedules the maintenance of repositories of projects after pushes. */
export const maintenanceFollower: PushFollower = {
  follow:
    async (_services, { owner, moved }) =>
    async (tx) => {
      if (moved.length > 0) await maintainSoon(tx, projectRepositories, owner.id);
    },
};

/** Not retried: each later change of a repository measures it anyway. */
export const measureRepositories = job('measure_repositories', {
  input: {},
  retries: 0,
  schedule: '33 * * * *',
  run: ({ signal, ...services }) => measureUnmeasured(services, signal),
});

/** Not retried: each later change of a default branch finds its README anyway. */
export const findReadmes = job('find_readmes', {
  input: {},
  retries: 0,
  schedule: '*/10 * * * *',
  run: ({ signal, ...services }) => findUnknownReadmes(services, signal),
});
