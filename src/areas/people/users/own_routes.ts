/** What users change of themselves on pages: their profile, and how pages look. */
import { Type } from 'typebox';
import { signedIn } from '../../../access/index.ts';
import { ianaZone, isTimeZone } from '../../../cron/index.ts';
import { type Database, repeated } from '../../../db/index.ts';
import { allOptional, checked, found, get, Id, nothing, one, post, put, resource } from '../../../http/index.ts';
import { confirmEmail } from '../emails/jobs.ts';
import { emailReasons } from '../emails/rules.ts';
import { usernameReasons } from '../namespaces/rules.ts';
import { changeUser } from './actions.ts';
import { userFields } from './fields.ts';
import { personNameReasons } from './rules.ts';

/** The parts of a profile that are everybody's own. */
const profile = {
  name: checked(Type.String(), personNameReasons),
  bio: userFields.bio.input,
  job_title: userFields.job_title.input,
  organization: userFields.organization.input,
  location: userFields.location.input,
  pronouns: userFields.pronouns.input,
  website_url: userFields.website_url.input,
  github: userFields.github.input,
  linkedin: userFields.linkedin.input,
  twitter: userFields.twitter.input,
  discord: userFields.discord.input,
  public_email: userFields.public_email.input,
  commit_email: userFields.commit_email.input,
  private_profile: userFields.private_profile.input,
};

const OwnProfile = resource('OwnProfile', { username: Type.String(), ...allOptional(profile) });

async function ownProfile(db: Database, id: number) {
  const names = Object.keys(profile) as (keyof typeof profile)[];
  const query = db
    .selectFrom('users')
    .select(['username', ...names])
    .where('id', '=', id);
  return found('User', await query.executeTakeFirst());
}

const themes = ['auto', 'light', 'dark', 'dimmed', 'contrast'] as const;

const TimeZone = checked(Type.String({ maxLength: 64, description: 'IANA name, e.g. `Europe/Berlin`' }), (name) =>
  isTimeZone(name) ? [] : ['is not a time zone'],
);

const preferences = {
  theme: Type.Enum([...themes]),
  times: Type.Enum(['relative', 'absolute']),
  time_zone: TimeZone,
  diffs: Type.Enum(['inline', 'side_by_side']),
  tab_width: Type.Enum([2, 4, 8]),
  keys: Type.Boolean(),
};
const PagePreferences = resource('PagePreferences', preferences);

async function pagePreferences(db: Database, id: number) {
  const query = db
    .selectFrom('users')
    .select(['page_theme as theme', 'page_times as times', 'page_time_zone as time_zone'])
    .select(['page_diffs as diffs', 'page_tab_width as tab_width', 'page_keys as keys'])
    .where('id', '=', id);
  return found('User', await query.executeTakeFirst()) as never;
}

export const ownPageRoutes = [
  get('/user/profile', {
    operation: 'getOwnProfile',
    summary: "Show the current user's profile",
    access: signedIn,
    returns: one(OwnProfile),
    handle: async ({ db, caller }) => (await ownProfile(db, caller.id)) as never,
  }),
  put('/user/profile', {
    operation: 'updateOwnProfile',
    summary: "Update the current user's profile",
    access: signedIn,
    input: allOptional(profile),
    returns: one(OwnProfile),
    refusals: { 400: '<parameter>: <reason>' },
    handle: async ({ db, caller, input }) => {
      await repeated(db, (tx) => changeUser(tx, caller.id, input, 'unknown'));
      return (await ownProfile(db, caller.id)) as never;
    },
  }),
  put('/user/username', {
    operation: 'updateOwnUsername',
    summary: "Change the current user's username",
    access: signedIn,
    input: { username: checked(Type.String(), usernameReasons) },
    returns: one(OwnProfile),
    refusals: { 400: '<parameter>: <reason>', 409: 'Username has already been taken' },
    handle: async ({ db, caller, input }) => {
      await repeated(db, (tx) => changeUser(tx, caller.id, input, 'unknown'));
      return (await ownProfile(db, caller.id)) as never;
    },
  }),
  put('/user/email', {
    operation: 'updateOwnEmail',
    summary: "Change the current user's address; it counts once it is confirmed",
    access: signedIn,
    input: { email: checked(Type.String(), emailReasons) },
    returns: nothing,
    refusals: { 400: '<parameter>: <reason>', 409: 'Email has already been taken' },
    handle: ({ db, caller, input }) => repeated(db, (tx) => changeUser(tx, caller.id, input, 'unknown')),
  }),
  post('/user/emails/:email_id/confirmation', {
    operation: 'resendOwnConfirmation',
    summary: 'Send the link that confirms an address again',
    access: signedIn,
    input: { email_id: Id },
    returns: nothing,
    refusals: { 404: '404 Email Not Found' },
    handle: async ({ db, caller, input }) => {
      const query = db
        .selectFrom('emails')
        .select('id')
        .where('id', '=', input.email_id)
        .where('user_id', '=', caller.id)
        .where('confirmed_at', 'is', null);
      const { id } = found('Email', await query.executeTakeFirst());
      await confirmEmail.enqueue(db, { email_id: id });
    },
  }),
  get('/user/page_preferences', {
    operation: 'getPagePreferences',
    summary: 'Show how pages look for the current user',
    access: signedIn,
    returns: one(PagePreferences),
    handle: ({ db, caller }) => pagePreferences(db, caller.id),
  }),
  put('/user/page_preferences', {
    operation: 'updatePagePreferences',
    summary: 'Change how pages look for the current user',
    access: signedIn,
    input: allOptional(preferences),
    returns: one(PagePreferences),
    handle: async ({ db, caller, input }) => {
      const time_zone = input.time_zone && ianaZone(input.time_zone);
      const given = { ...input, ...(time_zone && { time_zone }) };
      const columns = Object.fromEntries(Object.entries(given).map(([name, value]) => [`page_${name}`, value]));
      await db.updateTable('users').set(columns).where('id', '=', caller.id).execute();
      return pagePreferences(db, caller.id);
    },
  }),
];
