/** Finds and runs the command that the command line names. */
import { parseArgs } from 'node:util';
import { ConfigError, readConfig } from '../config.ts';
import { DatabaseError } from '../db/embedded.ts';
import { isUnavailable } from '../db/index.ts';
import { MigrationError } from '../db/migrate.ts';
import { SecretKeyError } from '../secrets/index.ts';
import { backup } from './backup.ts';
import { check } from './check.ts';
import { type Command, type Given, OperatorError, UsageError } from './command.ts';
import { licenseIssue } from './license_issue.ts';
import { licenseKey } from './license_key.ts';
import { migrate } from './migrate.ts';
import { fileReason } from './reasons.ts';
import { restore } from './restore.ts';
import { serve } from './serve.ts';
import { tokenCreate } from './token_create.ts';
import { userCreate } from './user_create.ts';
import { work } from './work.ts';

const commands: Record<string, Command> = {
  serve,
  work,
  migrate,
  backup,
  restore,
  check,
  'user create': userCreate,
  'token create': tokenCreate,
  'license issue': licenseIssue,
  'license key': licenseKey,
};

const overview = `Usage: npm run coppice -- COMMAND [OPTIONS]

${Object.entries(commands)
  .map(([name, command]) => `  ${name.padEnd(14)} ${command.summary}`)
  .join('\n')}

COMMAND --help tells more. Settings are environment variables; docs/operating.md lists them.`;

async function act(words: string[]): Promise<number> {
  const name = Object.keys(commands).find((each) => each === words.slice(0, each.split(' ').length).join(' '));
  if (name === undefined) return withoutCommand(words);
  const command = commands[name]!;
  const given = read(command, words.slice(name.split(' ').length));
  if (given.switches.help) {
    console.log(`${command.summary}.\n\n${command.help}`);
    return 0;
  }
  return await command.run(given, readConfig(process.env));
}

function withoutCommand(words: string[]): number {
  if (words.includes('--help') || words.includes('-h')) {
    console.log(overview);
    return 0;
  }
  throw new UsageError(
    words.length === 0 ? `Name a command.\n\n${overview}` : `There is no command “${words.join(' ')}”.\n\n${overview}`,
  );
}

function read(command: Command, args: string[]): Given {
  try {
    const { values } = parseArgs({ args, options: { ...command.options, help: { type: 'boolean', short: 'h' } } });
    const given: Given = { text: {}, switches: {}, lists: {} };
    for (const [option, value] of Object.entries(values)) {
      if (typeof value === 'string') given.text[option] = value;
      if (typeof value === 'boolean') given.switches[option] = value;
      if (Array.isArray(value)) given.lists[option] = value.filter((each) => typeof each === 'string');
    }
    return given;
  } catch (error) {
    if (!(error as NodeJS.ErrnoException).code?.startsWith('ERR_PARSE_ARGS')) throw error;
    throw new UsageError(`${(error as Error).message} See --help.`);
  }
}

/** Prints an error: a sentence for the operator, or all details of an unexpected one. */
function explain(error: unknown): number {
  if (error instanceof ConfigError) {
    console.error(error.problems.join('\n'));
    return 2;
  }
  if (error instanceof UsageError) {
    console.error(error.message);
    return 2;
  }
  const reason = fileReason(error);
  if (reason !== undefined) {
    console.error(reason);
    return 1;
  }
  if (isUnavailable(error)) {
    const { message, code } = error as NodeJS.ErrnoException;
    console.error(`The database was lost, or cannot work now: ${message || code}. Try again when it is back.`);
    return 1;
  }
  const isForOperator = [OperatorError, DatabaseError, MigrationError, SecretKeyError].some((kind) => error instanceof kind);
  console.error(isForOperator ? (error as Error).message : error);
  return 1;
}

/**
 * Runs a command line and prints its errors.
 * @param words the command line without the program
 * @returns the exit code
 */
export const run = (words: string[]): Promise<number> => act(words).catch(explain);
