/** Related epics: the epics that an epic is linked to. */
import { type Static, Type } from 'typebox';
import {
  epicKind,
  epicRole,
  epicVisible,
  type Group,
  levels,
  type MaybeCaller,
  theEpic,
  visibleGroup,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  type Caller,
  del,
  get,
  Id,
  Iid,
  listOf,
  nullable,
  one,
  post,
  resource,
  type Services,
  Timestamp,
  withStatus,
} from '../../../http/index.ts';
import { createLink, removeLink } from '../issuables/links/actions.ts';
import { LinkType, linkedFields, linkRefusals, NewLinkType } from '../issuables/links/parameters.ts';
import { type LinkRow, linkedWith, linkOf } from '../issuables/links/queries.ts';
import { noMatchText } from '../issuables/rules.ts';
import { mayPlanIn } from './parent_actions.ts';
import { Epic, presentEpics } from './present.ts';
import { type EpicReference, idOfEpic, visibleEpic } from './queries.ts';

/** An epic that another one is linked to. */
export const RelatedEpic = resource('RelatedEpic', {
  ...Epic.properties,
  related_epic_link_id: Id,
  ...linkedFields(epicKind),
});

const EpicLink = resource('EpicLink', {
  id: Id,
  source_epic: Epic,
  target_epic: Epic,
  link_type: LinkType,
  created_at: Timestamp,
  updated_at: Timestamp,
});

const path = '/groups/:id/epics/:epic_iid/related_epics';

const missing = () => new ApiError(404, { message: noMatchText(epicKind) });
const roleText = "Couldn't link epic. You must have at least the Planner role in both groups.";
const lowRole = () => new ApiError(403, { message: roleText });

/** A link as a reply; the caller may read both epics. */
async function presentLink(
  services: Pick<Services, 'db' | 'url'>,
  caller: MaybeCaller,
  { source_id, target_id, ...link }: LinkRow,
  relative_to: number,
): Promise<Static<typeof EpicLink>> {
  const [source, target] = await presentEpics(services, caller, [source_id, target_id], { relative_to });
  return { ...link, source_epic: source!, target_epic: target! };
}

/**
 * The target epic of a new link.
 * @throws ApiError 404 if it does not exist, 403 if the caller may not link it
 */
async function targetNamed(db: Database, caller: Caller, group: Group, iid: number): Promise<EpicReference> {
  const id = await idOfEpic(db, group, iid);
  const target = id === undefined ? undefined : await visibleEpic(db, caller, id);
  if (!target) throw missing();
  if (group.access_level < levels.planner || group.archived || group.marked_for_deletion) throw lowRole();
  return target;
}

const routes = [
  get(path, {
    operation: 'listRelatedEpics',
    summary: 'List the links of an epic, oldest first',
    access: epicVisible,
    plan: 'ultimate',
    returns: listOf(RelatedEpic),
    handle: async ({ db, url, caller, epic }) => {
      const linked = await linkedWith(db, caller, theEpic(epic.id), (ids) =>
        presentEpics({ db, url }, caller, ids, { relative_to: epic.group_id }),
      );
      return linked.map(({ thing, link_id: related_epic_link_id, link }) => ({
        ...thing,
        related_epic_link_id,
        ...link,
      }));
    },
  }),
  post(path, {
    operation: 'linkEpics',
    summary: 'Create an epic link',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: {
      target_group_id: nullable(Type.String({ description: 'ID or full path; null: the same group' })),
      target_epic_iid: Iid,
      link_type: NewLinkType(epicKind),
    },
    returns: one(EpicLink),
    refusals: {
      403: roleText,
      ...linkRefusals(epicKind),
    },
    handle: async ({ db, url, caller, group, epic, input: { target_group_id, target_epic_iid, link_type } }) => {
      const at = target_group_id === null ? group : await visibleGroup(db, caller, target_group_id);
      const target = await targetNamed(db, caller, at, target_epic_iid);
      const source = { ...epic, full_path: group.full_path };
      const link = await createLink(db, epicKind, caller, [source, target], link_type);
      return presentLink({ db, url }, caller, link, group.id);
    },
  }),
  del(`${path}/:related_epic_link_id`, {
    operation: 'unlinkEpics',
    summary: 'Delete an epic link',
    access: epicRole('planner'),
    plan: 'ultimate',
    input: { related_epic_link_id: Id },
    returns: withStatus(200, one(EpicLink)),
    refusals: { 403: roleText, 404: noMatchText(epicKind) },
    handle: async ({ db, url, caller, group, epic, input }) => {
      const link = await linkOf(db, caller, theEpic(epic.id), input.related_epic_link_id);
      const other = await visibleEpic(db, caller, link.source_id === epic.id ? link.target_id : link.source_id);
      if (!other) throw missing();
      if (!(await mayPlanIn(db, caller, other.group_id))) throw lowRole();
      const reply = await presentLink({ db, url }, caller, link, group.id);
      const one = { ...epic, full_path: group.full_path };
      await db.transaction().execute((tx) => removeLink(tx, epicKind, caller.id, [one, other]));
      return reply;
    },
  }),
];

export const epicLinkRoutes = epicKind.endpoints(routes);
