/** The events of pushes (docs/reference/events.md). */
import { repositoryOf } from '../../../git/index.ts';
import type { PushFollower } from '../../../services/index.ts';
import { describePush, recordPush } from '../../activity/events/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';

/** Records pushes as events. */
export const eventFollower: PushFollower = {
  async follow(services, { owner, user_id, moved }) {
    if (moved.length === 0) return async () => {};
    const { push_event_activities_limit: limit } = await settingsOf(services.db);
    const { default_branch } = owner;
    const pushes = await describePush({ repository: repositoryOf(services, owner), default_branch, limit }, moved);
    return (tx) => recordPush(tx, { project_id: owner.id, author_id: user_id }, pushes);
  },
};
