/** Notification settings: which mail a user receives, globally, for a group, or for a project. */
import { type Static, Type } from 'typebox';
import { groupRole, projectRole, signedIn } from '../../../access/index.ts';
import {
  type Access,
  allOptional,
  badRequest,
  type Caller,
  capitalized,
  checked,
  get,
  nullable,
  one,
  optional,
  put,
  resource,
  type Services,
  since,
} from '../../../http/index.ts';
import { emailReasons } from '../../people/emails/index.ts';
import { eventSettings } from '../notifications/rules.ts';
import { changeSetting, foreignEmailText } from './actions.ts';
import { type Scope, settingOf } from './queries.ts';
import { notificationLevels } from './rules.ts';

type Granted = { caller: Caller; scope: Scope };

/** Everyone who can see a group or project has settings there, even if it is read-only, e.g. archived. */
const member = projectRole('guest', { archived: true });
const groupMember = groupRole('guest');
const accessTo: Record<Scope['kind'], Access<Granted>> = {
  global: {
    ...signedIn,
    check: async (call) => ({
      ...(await signedIn.check(call)),
      scope: { kind: 'global', group_id: null, project_id: null },
    }),
  },
  group: {
    ...groupMember,
    check: async (call) => {
      const { caller, group } = await groupMember.check(call);
      return { caller, scope: { kind: 'group', group_id: group.id, project_id: null } };
    },
  },
  project: {
    ...member,
    check: async (call) => {
      const { caller, project } = await member.check(call);
      return { caller, scope: { kind: 'project', group_id: null, project_id: project.id } };
    },
  },
};

type Switches = Record<(typeof eventSettings)[number], ReturnType<typeof Type.Boolean>>;
const switches = Object.fromEntries(eventSettings.map((event) => [event, Type.Boolean()])) as Switches;
/** Epics belong to groups. */
const groupSwitches = { ...switches, new_epic: since('ultimate', Type.Boolean()) };

const levelText = "'<level>' is not a valid level";
const Level = Type.Enum([...notificationLevels]);

/** @throws ApiError 400 */
function checkLevel(level: string | undefined, kind: Scope['kind']): void {
  const isKnown = level === undefined || (notificationLevels as readonly string[]).includes(level);
  if (!isKnown || (kind === 'global' && level === 'global')) throw badRequest(levelText.replace('<level>', level));
}

const Email = (description: string) =>
  optional(checked(nullable(Type.String({ description })), (email) => (email === null ? [] : emailReasons(email))));
/** Projects have no address of their own: an omitted value is undefined, as the types state. */
const emails = {
  global: {
    shown: {
      notification_email: optional(
        nullable(Type.String({ description: 'The primary address unless another one was chosen' })),
      ),
    },
    given: { notification_email: Email('A confirmed address of the caller; null for the primary one') },
  },
  group: {
    shown: {
      notification_email: optional(
        nullable(Type.String({ description: 'The address for what is in the group, if one was chosen' })),
      ),
    },
    given: {
      notification_email: Email(
        'A confirmed address of the caller, for what is in the group; null for the one that is used elsewhere',
      ),
    },
  },
};

function routesOf(kind: Scope['kind']) {
  const path = kind === 'global' ? '/notification_settings' : `/${kind}s/:id/notification_settings`;
  const Scoped = kind === 'global' ? 'Own' : capitalized(kind);
  const where = kind === 'global' ? '' : ` in a ${kind}`;
  const events = kind === 'project' ? (switches as typeof groupSwitches) : groupSwitches;
  const { shown: shownEmail, given: givenEmail } =
    kind === 'project' ? ({ shown: {}, given: {} } as (typeof emails)['group']) : emails[kind];
  const Events = Type.Object(events, { description: 'Only at the level `custom`' });
  const Setting = resource(`${capitalized(kind)}NotificationSetting`, {
    level: Level,
    ...shownEmail,
    events: optional(Events),
  });
  const shared = { access: accessTo[kind], returns: one(Setting) };
  const show = async ({ db, caller, scope }: Granted & Pick<Services, 'db'>): Promise<Static<typeof Setting>> => {
    const { level, notification_email, events: on } = await settingOf(db, caller.id, scope);
    const shown = Object.keys(events).map((event) => [event, on.includes(event)]);
    return {
      level: level as Static<typeof Level>,
      ...(notification_email === null ? {} : { notification_email }),
      ...(level === 'custom' ? { events: Object.fromEntries(shown) as Static<typeof Events> } : {}),
    };
  };
  return [
    get(path, {
      operation: `get${Scoped}NotificationSettings`,
      summary: `Show the current user's notification settings${where}`,
      ...shared,
      handle: show,
    }),
    put(path, {
      operation: `update${Scoped}NotificationSettings`,
      summary: `Update the current user's notification settings${where}`,
      description: 'The events count at the level `custom`; those that are not given stay as they are.',
      ...shared,
      input: {
        level: optional(
          Type.String({ description: `One of ${notificationLevels.map((each) => `\`${each}\``).join(', ')}` }),
        ),
        ...givenEmail,
        ...allOptional(events),
      },
      refusals: { 400: kind === 'project' ? levelText : [levelText, `notification_email: ${foreignEmailText}`] },
      handle: async ({ input: { level, notification_email, ...given }, ...call }) => {
        checkLevel(level, kind);
        const named = (wanted: boolean) =>
          Object.keys(given).filter((event) => given[event as keyof typeof given] === wanted);
        const { db, caller, scope } = call;
        await changeSetting(db, caller.id, scope, { level, notification_email, on: named(true), off: named(false) });
        return show(call);
      },
    }),
  ];
}

export const notificationSettingRoutes = (['global', 'group', 'project'] as const).flatMap(routesOf);
