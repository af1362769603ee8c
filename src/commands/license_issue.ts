import { issueLicense } from '../areas/instance/licenses/index.ts';
import { today } from '../cron/index.ts';
import { secretsOf } from '../services/index.ts';
import { type Arguments, type Command, readDay, required, UsageError } from './command.ts';

export const licenseIssue: Command = {
  summary: 'Issue a license and print it',
  help: `Options
  --plan NAME            required: premium or ultimate
  --name TEXT            required: who it is for
  --email ADDRESS
  --company TEXT
  --users N              seats; default: any number
  --starts DATE          like 2027-01-01; default: today
  --expires DATE         the license expires when this day begins; default: never
  --trial                the plan ends with the license; otherwise it stays in force
  --block-changes DATE   projects become read-only on this day, but not before two weeks after the expiry; default: never
  --add-on NAME=N        any number of times
  --previous-users N     seats of the previous license
  --true-up N            users who were paid for afterwards, because they exceeded the seats from --true-up-from DATE to --true-up-to DATE

The license is signed with the key of this server, which is derived from its secret key. This server accepts it, and so do servers that were configured with the output of
\`license key\`. Only the license is printed to standard output.`,
  options: {
    plan: { type: 'string' },
    name: { type: 'string' },
    email: { type: 'string' },
    company: { type: 'string' },
    users: { type: 'string' },
    starts: { type: 'string' },
    expires: { type: 'string' },
    trial: { type: 'boolean' },
    'block-changes': { type: 'string' },
    'add-on': { type: 'string', multiple: true },
    'previous-users': { type: 'string' },
    'true-up': { type: 'string' },
    'true-up-from': { type: 'string' },
    'true-up-to': { type: 'string' },
  },
  run: async (given, config) => {
    const text = await issueLicense(secretsOf(config), licensedBy(given)).catch((error: Error) => {
      throw new UsageError(error.message);
    });
    console.log(text);
    return 0;
  },
};

function licensedBy(given: Arguments): Parameters<typeof issueLicense>[1] {
  const { email, company } = given.text;
  return {
    licensee: {
      Name: required(given, 'name'),
      ...(email === undefined ? {} : { Email: email }),
      ...(company === undefined ? {} : { Company: company }),
    },
    starts_at: dayIn(given, 'starts') ?? today(),
    expires_at: dayIn(given, 'expires') ?? null,
    block_changes_at: dayIn(given, 'block-changes') ?? null,
    restrictions: {
      plan: readPlan(required(given, 'plan')),
      trial: given.switches.trial ?? false,
      add_ons: Object.fromEntries((given.lists['add-on'] ?? []).map(readAddOn)),
      ...withoutUndefined({
        active_user_count: countIn(given, 'users'),
        previous_user_count: countIn(given, 'previous-users'),
        trueup_quantity: countIn(given, 'true-up'),
        trueup_from: dayIn(given, 'true-up-from'),
        trueup_to: dayIn(given, 'true-up-to'),
      }),
    },
  };
}

/** Leaves out undefined members, which JSON cannot express. */
const withoutUndefined = <T extends object>(values: T): { [K in keyof T]?: Exclude<T[K], undefined> } =>
  Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined)) as never;

function readPlan(text: string): 'premium' | 'ultimate' {
  if (text === 'premium' || text === 'ultimate') return text;
  throw new UsageError(`The plan must be premium or ultimate, not “${text}”.`);
}

function readCount(text: string): number {
  if (/^\d{1,9}$/.test(text)) return Number(text);
  throw new UsageError(`“${text}” is not a number of users.`);
}

function readAddOn(text: string): [string, number] {
  const [, name, count] = /^([^=]+)=(\d{1,9})$/.exec(text) ?? [];
  if (name === undefined) throw new UsageError(`An add-on must look like GitLab_Geo=1, not “${text}”.`);
  return [name, Number(count)];
}

const countIn = ({ text }: Arguments, option: string) =>
  text[option] === undefined ? undefined : readCount(text[option]);
const dayIn = ({ text }: Arguments, option: string) => (text[option] === undefined ? undefined : readDay(text[option]));
