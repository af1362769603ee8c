/** Topics: they group projects by subject and have a title and a description (docs/reference/topics.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { admin, anyone, type MaybeCaller } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  allOptional,
  checked,
  containing,
  del,
  found,
  get,
  Id,
  NotBlank,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  type Services,
  withStatus,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { tooLong } from '../../../texts/index.ts';
import { Avatar, avatarTexts, avatarUrl, receiveAvatar, setAvatar } from '../../people/avatars/index.ts';
import { changeTopic, createTopic, deleteTopic, identicalText, mergeTopics } from './actions.ts';

const maximumLengths = { name: 255, title: 255, description: 1024 };

const Topic = resource('Topic', {
  id: Id,
  name: Type.String(),
  title: Type.String(),
  description: nullable(Type.String()),
  total_projects_count: Type.Integer(),
  avatar_url: nullable(Type.String()),
});

/**
 * The number of projects that the caller may know to exist. Private projects that the caller is a member of are not
 * included, because they would have to be counted for each caller.
 */
function countFor(caller: MaybeCaller) {
  if (caller?.admin) return 'total_projects_count';
  return caller && !caller.external ? 'shown_projects_count' : 'public_projects_count';
}

const topicsIn = (db: Database, caller: MaybeCaller) =>
  db
    .selectFrom('topics')
    .select(['id', 'name', 'title', 'description', 'avatar', `${countFor(caller)} as total_projects_count`]);

type TopicRow = Awaited<ReturnType<ReturnType<typeof topicsIn>['executeTakeFirstOrThrow']>>;

const present = (url: string, { avatar, ...topic }: TopicRow) => ({
  ...topic,
  avatar_url: avatarUrl(url, 'projects/topic', { id: topic.id, avatar }),
});

/** @throws ApiError 404 */
const topicOf = async ({ db, url, caller }: Pick<Services, 'db' | 'url'> & { caller: MaybeCaller }, id: number) =>
  present(url, found(undefined, await topicsIn(db, caller).where('id', '=', id).executeTakeFirst()));

const names = {
  name: checked(NotBlank({ description: 'At most 255 characters; unique without regard to case' }), (name) => [
    ...tooLong(name, maximumLengths.name),
    ...(/[\r\n]/.test(name) ? ['must not contain line breaks'] : []),
  ]),
  title: checked(NotBlank({ description: 'At most 255 characters' }), (title) => tooLong(title, maximumLengths.title)),
};
const description = optional(
  checked(nullable(Type.String({ description: 'At most 1,024 characters' })), (text) =>
    tooLong(text ?? '', maximumLengths.description),
  ),
);

const taken = 'name: has already been taken';

export const topicRoutes = [
  get('/topics', {
    operation: 'listTopics',
    summary: 'List topics, most projects first',
    access: anyone,
    input: {
      search: optional(Type.String({ description: 'Part of the name or title' })),
      without_projects: optional(Type.Boolean({ description: 'Whether to list only topics that no project has' })),
      ...paging,
    },
    returns: pageOf(Topic),
    handle: async ({ db, url, caller, input }) => {
      const pattern = input.search && containing(input.search);
      const count = countFor(caller);
      const topics = topicsIn(db, caller)
        .$if(pattern !== undefined, (q) =>
          q.where(sql<boolean>`(name::text ilike ${pattern} or title ilike ${pattern})`),
        )
        .$if(input.without_projects === true, (q) => q.where(count, '=', 0))
        .orderBy(`topics.${count}`, 'desc')
        .orderBy('id');
      const page = await paginate(db, topics, input);
      return mapPage(page, (row) => present(url, row));
    },
  }),
  get('/topics/:id', {
    operation: 'getTopic',
    summary: 'Show a topic',
    access: anyone,
    input: { id: Id },
    returns: one(Topic),
    handle: ({ input, ...services }) => topicOf(services, input.id),
  }),
  post('/topics', {
    operation: 'createTopic',
    summary: 'Create a topic',
    access: admin,
    input: { ...names, description, avatar: Avatar() },
    returns: one(Topic),
    refusals: { 400: [taken, ...avatarTexts] },
    handle: async ({ input: { avatar, ...topic }, ...services }) => {
      const received = await receiveAvatar(services, avatar);
      const id = await services.db.transaction().execute(async (tx) => {
        const created = await createTopic(tx, topic);
        await setAvatar(tx, 'topics', created, received);
        return created;
      });
      return topicOf(services, id);
    },
  }),
  put('/topics/:id', {
    operation: 'updateTopic',
    summary: 'Update a topic; a new name also applies to its projects',
    access: admin,
    input: { id: Id, ...allOptional(names), description, avatar: Avatar() },
    returns: one(Topic),
    refusals: { 400: [taken, ...avatarTexts] },
    handle: async ({ input: { id, avatar, ...changes }, ...services }) => {
      const received = await receiveAvatar(services, avatar);
      await services.db.transaction().execute(async (tx) => {
        await changeTopic(tx, id, changes);
        await setAvatar(tx, 'topics', id, received);
      });
      return topicOf(services, id);
    },
  }),
  del('/topics/:id', {
    operation: 'deleteTopic',
    summary: 'Delete a topic and remove it from its projects',
    access: admin,
    input: { id: Id },
    returns: nothing,
    handle: ({ db, input }) => deleteTopic(db, input.id),
  }),
  post('/topics/merge', {
    operation: 'mergeTopics',
    summary: 'Merge a topic into another, which replaces it in its projects',
    access: admin,
    input: { source_topic_id: Id, target_topic_id: Id },
    returns: withStatus(200, one(Topic)),
    refusals: { 400: identicalText, 404: '404 Not found' },
    handle: async ({ input, ...services }) => {
      const { source_topic_id: source_id, target_topic_id: target_id } = input;
      await mergeTopics(services.db, { source_id, target_id });
      return topicOf(services, target_id);
    },
  }),
];
