/** Badges: small linked pictures shown on projects, owned by projects and groups (docs/reference/badges.md). */
import { type Static, Type } from 'typebox';
import { groupRole, groupVisible, type MaybeCaller, projectRole, projectVisible } from '../../../access/index.ts';
import {
  type Access,
  ApiError,
  type Caller,
  capitalized,
  checked,
  del,
  deleteFound,
  forbidden,
  found,
  get,
  Id,
  nothing,
  nullable,
  one,
  optional,
  pageOf,
  post,
  put,
  resource,
  type Services,
} from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { addBadge, changeBadge, tooManyText } from './actions.ts';
import { valuesFor } from './git.ts';
import { type BadgeOwner, type BadgeRow, inOrder, shownBadges } from './queries.ts';
import { filled, nameReasons, urlReasons } from './rules.ts';

const urls = { link_url: Type.String(), image_url: Type.String() };
const rendered = { rendered_link_url: Type.String(), rendered_image_url: Type.String() };
export const Badge = resource('Badge', {
  name: nullable(Type.String()),
  ...urls,
  ...rendered,
  id: Id,
  kind: Type.Enum(['project', 'group']),
});
const RenderedBadge = resource('RenderedBadge', { ...urls, ...rendered });

type Kind = 'project' | 'group';
type Owned<C> = Access<{ caller: C; owner: BadgeOwner }>;

/** Turns an access rule for a project or group into one that grants the owner of badges. */
function owned<C extends MaybeCaller, G extends { caller: C }>(
  rule: Access<G>,
  ownerIn: (granted: G) => BadgeOwner,
): Owned<C> {
  return {
    ...rule,
    async check(call) {
      const granted = await rule.check(call);
      return { caller: granted.caller, owner: ownerIn(granted) };
    },
  };
}

const rules: Record<Kind, { reader: Owned<MaybeCaller>; writer: Owned<Caller> }> = {
  project: {
    reader: owned(projectVisible, ({ project }) => ({ kind: 'project', project })),
    writer: owned(projectRole('maintainer'), ({ project }) => ({ kind: 'project', project })),
  },
  group: {
    reader: owned(groupVisible, ({ group }) => ({ kind: 'group', group })),
    writer: owned(groupRole('owner'), ({ group }) => ({ kind: 'group', group })),
  },
};

type Addresses = Pick<BadgeRow, 'link_url' | 'image_url'>;

/** Badges with their addresses. The values of placeholders are read once for all of them. */
async function withAddresses<B extends Addresses>(
  services: Services,
  asked: { caller: MaybeCaller; owner: BadgeOwner },
  badges: readonly B[],
): Promise<(B & Static<typeof RenderedBadge>)[]> {
  const texts = badges.flatMap(({ link_url, image_url }) => [link_url, image_url]);
  const values = await valuesFor(services, { ...asked, urls: texts });
  return badges.map((badge) => ({
    ...badge,
    rendered_link_url: filled(badge.link_url, values),
    rendered_image_url: filled(badge.image_url, values),
  }));
}

async function present(
  services: Services,
  asked: { caller: MaybeCaller; owner: BadgeOwner },
  rows: readonly BadgeRow[],
): Promise<Static<typeof Badge>[]> {
  const shown = await withAddresses(services, asked, rows);
  return shown.map(({ created_at: _, project_id, ...badge }) => ({
    ...badge,
    kind: project_id === null ? 'group' : 'project',
  }));
}

const Address = (description: string) =>
  checked(
    Type.String({ description: `${description}, with \`http\` or \`https\`; at most 2,048 characters` }),
    urlReasons,
  );
const addresses = { link_url: Address('Where the badge leads'), image_url: Address('The picture') };
const name = optional(checked(nullable(Type.String({ description: 'At most 255 characters' })), nameReasons));

const groupText = 'To delete a Group badge please use the Group endpoint';

/** @throws ApiError 404, or `refusal` for a badge of a group above the project */
async function ownBadge(services: Services, owner: BadgeOwner, id: number, refusal: ApiError): Promise<BadgeRow> {
  const row = found(undefined, await shownBadges(services.db, owner).where('id', '=', id).executeTakeFirst());
  if (owner.kind === 'project' && row.project_id === null) throw refusal;
  return row;
}

function routesOf(kind: Kind) {
  const { reader, writer } = rules[kind];
  const Noun = capitalized(kind);
  const base = `/${kind}s/:id/badges`;
  const which = { badge_id: Id };
  return [
    get(base, {
      operation: `list${Noun}Badges`,
      summary:
        kind === 'project'
          ? 'List the badges of a project, after those of its groups, oldest first'
          : 'List the badges of a group, oldest first',
      access: reader,
      input: { ...paging, name: optional(Type.String({ description: 'Exactly this name' })) },
      returns: pageOf(Badge),
      handle: async ({ caller, owner, input, ...services }) => {
        const badges = shownBadges(services.db, owner);
        const wanted = input.name === undefined ? badges : badges.where('name', '=', input.name);
        const page = await paginate(services.db, inOrder(wanted), input);
        return { ...page, items: await present(services, { caller, owner }, page.items) };
      },
    }),
    get(`${base}/render`, {
      operation: `render${Noun}Badge`,
      summary: `Show how a badge of a ${kind} would look`,
      access: writer,
      input: addresses,
      returns: one(RenderedBadge),
      handle: async ({ caller, owner, input, ...services }) =>
        (await withAddresses(services, { caller, owner }, [input]))[0]!,
    }),
    get(`${base}/:badge_id`, {
      operation: `get${Noun}Badge`,
      summary: `Show a badge of a ${kind}`,
      access: reader,
      input: which,
      returns: one(Badge),
      handle: async ({ caller, owner, input, ...services }) => {
        const row = await shownBadges(services.db, owner).where('id', '=', input.badge_id).executeTakeFirst();
        return (await present(services, { caller, owner }, [found(undefined, row)]))[0]!;
      },
    }),
    post(base, {
      operation: `create${Noun}Badge`,
      summary: `Add a badge to a ${kind}`,
      access: writer,
      input: { ...addresses, name },
      returns: one(Badge),
      refusals: { 400: `base: ${tooManyText}` },
      handle: async ({ caller, owner, input, ...services }) =>
        (await present(services, { caller, owner }, [await addBadge(services.db, owner, input)]))[0]!,
    }),
    put(`${base}/:badge_id`, {
      operation: `update${Noun}Badge`,
      summary: `Update a badge of a ${kind}`,
      access: writer,
      input: { ...which, link_url: optional(addresses.link_url), image_url: optional(addresses.image_url), name },
      returns: one(Badge),
      handle: async ({ caller, owner, input: { badge_id, ...given }, ...services }) => {
        const { id } = await ownBadge(services, owner, badge_id, forbidden());
        const row = found(undefined, await changeBadge(services.db, owner, id, given));
        return (await present(services, { caller, owner }, [row]))[0]!;
      },
    }),
    del(`${base}/:badge_id`, {
      operation: `delete${Noun}Badge`,
      summary: `Delete a badge of a ${kind}`,
      access: writer,
      input: which,
      returns: nothing,
      ...(kind === 'project' ? { refusals: { 403: groupText } } : {}),
      handle: async ({ owner, input, ...services }) => {
        const refusal = new ApiError(403, { message: groupText });
        const { id } = await ownBadge(services, owner, input.badge_id, refusal);
        await deleteFound(services.db, 'badges', id);
      },
    }),
  ];
}

export const badgeRoutes = [...routesOf('project'), ...routesOf('group')];
