/** The effects of a push on releases: a release is deleted with its tag. */
import { isAmong } from '../../../db/index.ts';
import { repositoryOf, resolveCommit } from '../../../git/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { tellOfReleases } from './hook_actions.ts';

const tags = 'refs/tags/';

/** Deletes the releases of deleted tags. */
export const releaseFollower: PushFollower = {
  async follow(services, { owner, moved }) {
    const gone = moved.filter(({ ref, new: target }) => target === null && ref.startsWith(tags));
    if (gone.length === 0) return async () => {};
    const repository = repositoryOf(services, owner);
    const known = await services.db
      .selectFrom('releases')
      .select('tag')
      .where('project_id', '=', owner.id)
      .where(
        isAmong(
          'tag',
          gone.map(({ ref }) => ref.slice(tags.length)),
          'text[]',
        ),
      )
      .execute();
    const released = new Set(known.map(({ tag }) => tag));
    const tagged = await Promise.all(
      gone.map(async ({ ref, old }) => {
        const tag = ref.slice(tags.length);
        return { tag, commit_id: released.has(tag) && old ? await resolveCommit(repository, old) : undefined };
      }),
    );
    return async (tx) => {
      await tellOfReleases(tx, 'delete', owner.id, tagged);
      await tx
        .deleteFrom('releases')
        .where('project_id', '=', owner.id)
        .where(
          isAmong(
            'tag',
            tagged.map(({ tag }) => tag),
            'text[]',
          ),
        )
        .execute();
    };
  },
};
