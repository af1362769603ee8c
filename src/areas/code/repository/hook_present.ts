/** Pushes in webhooks. */
import { type Static, type TProperties, Type } from 'typebox';
import type { Built } from '../../../db/index.ts';
import { Id, nullable, resource } from '../../../http/index.ts';
import type { Filling } from '../../../services/index.ts';
import {
  avatarOf,
  gainedBy,
  HookCommit,
  HookProject,
  HookRepository,
  headOfPush,
  type PersonRow,
  personRow,
  presentProject,
  presentRepository,
  projectRow,
} from '../../activity/hooks/index.ts';
import { hookEvent, type Refs } from '../../instance/hook_events/index.ts';

const pusher = {
  user_id: nullable(Id),
  user_name: nullable(Type.String()),
  user_username: nullable(Type.String()),
  user_email: nullable(Type.String()),
  user_avatar: nullable(Type.String()),
};

/** The members about a pusher, who may have been deleted. */
const presentPusher = (user: PersonRow | null, services: Filling) => ({
  user_id: user?.id ?? null,
  user_name: user?.name ?? null,
  user_username: user?.username ?? null,
  user_email: user?.public_email || null,
  user_avatar: user && avatarOf(user, services),
});

/** A branch or tag that a push has moved. */
export interface RefNews {
  project_id: number;
  user_id: number | null;
  ref: string;
  before: string | null;
  after: string | null;
  ref_protected: boolean;
}

const paths = Type.Array(Type.String());

export const pushEvent = hookEvent({
  name: 'push',
  summary: 'A branch or a tag was created, moved or deleted',
  triggers: ['push_events', 'tag_push_events'],
  snapshot: (news: Refs<RefNews>) => ({
    ref: news.ref,
    before: news.before,
    after: news.after,
    ref_protected: news.ref_protected,
    user: personRow(news.user_id),
    project: projectRow(news.project_id),
  }),
  body: resource('PushHookBody', {
    object_kind: Type.Enum(['push', 'tag_push']),
    event_name: Type.Enum(['push', 'tag_push']),
    before: Type.String(),
    after: Type.String(),
    ref: Type.String(),
    checkout_sha: nullable(Type.String()),
    message: nullable(Type.String()),
    ref_protected: Type.Boolean(),
    ...pusher,
    project_id: Id,
    project: HookProject,
    repository: HookRepository,
    commits: Type.Array(Type.Object({ ...HookCommit.properties, added: paths, modified: paths, removed: paths })),
    total_commits_count: Type.Integer(),
    push_options: Type.Object({}),
  }),
}).presentedBy(async ({ user, project, ref_protected, ...moved }, services) => {
  // Hooks of the server get no commits.
  const push = { ...moved, place: project, lists: !services.is_system };
  return {
    ...headOfPush(push),
    ref_protected,
    ...presentPusher(user, services),
    project_id: project.id,
    project: presentProject(project, services),
    repository: presentRepository(project, services),
    ...(await gainedBy(services, push)),
    push_options: {},
  };
});

const Change = Type.Object({ before: Type.String(), after: Type.String(), ref: Type.String() });

/** All branches and tags that a push has moved. */
export interface UpdateNews {
  project_id: number | null;
  user_id: number | null;
  changes: Static<typeof Change>[];
}

/** The parts of a snapshot about a whole push. */
export const updateParts = (news: Refs<UpdateNews>) => ({
  user: personRow(news.user_id),
  project: projectRow(news.project_id),
  changes: news.changes,
});

/** @param owner the members about the owner of the repository, besides its project */
export const updateBody = <P extends TProperties>(name: string, owner: P) =>
  resource(name, {
    event_name: Type.Literal('repository_update'),
    ...pusher,
    project_id: nullable(Id),
    project: nullable(HookProject),
    ...owner,
    changes: Type.Array(Change),
    refs: Type.Array(Type.String()),
  });

/** The members of `updateBody`, without those of the owner. */
export const presentUpdate = (
  { user, project, changes }: Built<ReturnType<typeof updateParts>>,
  services: Filling,
) => ({
  event_name: 'repository_update' as const,
  ...presentPusher(user, services),
  project_id: project?.id ?? null,
  project: project && presentProject(project, services),
  changes,
  refs: changes.map(({ ref }) => ref),
});

export const repositoryUpdateEvent = hookEvent({
  name: 'repository_update',
  summary: 'A push has moved branches or tags; one event for all of them',
  triggers: ['repository_update_events'],
  snapshot: updateParts,
  body: updateBody('RepositoryUpdateHookBody', {}),
}).presentedBy(presentUpdate);
