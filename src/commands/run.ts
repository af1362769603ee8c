/** Finds and runs the command that the command line names. */
import { parseArgs } from 'node:util';
import { BlobStoreError } from '../blobs/index.ts';
import { ConfigError, readConfig } from '../config.ts';
import { DatabaseError } from '../db/embedded.ts';
import { hasLostDatabase } from '../db/index.ts';
import { MigrationError } from '../db/migrate.ts';
import { actingAs } from '../foundation/actors.ts';
import { isFull } from '../http/index.ts';
import { SecretKeyError } from '../secrets/index.ts';
import { type Arguments, type Command, OperatorError, UsageError } from './command.ts';
import { fileReason } from './reasons.ts';
import { productVersion } from './running_node.ts';

/** Loaded on demand: most commands need only a part of the product, and loading all of it takes longer than their work. */
const commands: Record<string, () => Promise<Command>> = {
  serve: async () => (await import('./serve.ts')).serve,
  work: async () => (await import('./work.ts')).work,
  migrate: async () => (await import('./migrate.ts')).migrate,
  backup: async () => (await import('./backup.ts')).backup,
  restore: async () => (await import('./restore.ts')).restore,
  check: async () => (await import('./check.ts')).check,
  nodes: async () => (await import('./nodes.ts')).nodesCommand,
  'config check': async () => (await import('./config_check.ts')).configCheck,
  'mail test': async () => (await import('./mail_test.ts')).mailTest,
  'user list': async () => (await import('./user_list.ts')).userList,
  'user password': async () => (await import('./user_password.ts')).userPassword,
  'user block': async () => (await import('./user_block.ts')).userBlock,
  'user unblock': async () => (await import('./user_block.ts')).userUnblock,
  'user second-factor': async () => (await import('./user_second_factor.ts')).userSecondFactor,
  'user create': async () => (await import('./user_create.ts')).userCreate,
  'import status': async () => (await import('./import_status.ts')).importStatus,
  'secret rotate': async () => (await import('./secret_rotate.ts')).secretRotate,
  'storage moves': async () => (await import('./storage_moves.ts')).storageMoves,
  'token create': async () => (await import('./token_create.ts')).tokenCreate,
  'oauth rotate-key': async () => (await import('./oauth_rotate_key.ts')).oauthRotateKey,
  'license issue': async () => (await import('./license_issue.ts')).licenseIssue,
  'license key': async () => (await import('./license_key.ts')).licenseKey,
  'geo promote': async () => (await import('./geo_promote.ts')).geoPromote,
  'geo verify': async () => (await import('./geo_verify.ts')).geoVerify,
  'geo status': async () => (await import('./geo_status.ts')).geoStatus,
  'geo check': async () => (await import('./geo_check.ts')).geoCheck,
  'audit verify': async () => (await import('./audit_verify.ts')).auditVerify,
  'advisories import': async () => (await import('./advisories_import.ts')).advisoriesImport,
};

/** The commands that work for others: whom, they learn with each request. */
const servers = ['serve', 'work'];

async function overview(): Promise<string> {
  const lines = Object.entries(commands).map(async ([name, load]) => `  ${name.padEnd(17)} ${(await load()).summary}`);
  return `Usage: npm run coppice -- COMMAND [OPTIONS]

${(await Promise.all(lines)).join('\n')}

COMMAND --help tells more, and --version which version this is. Settings are environment variables; docs/operating.md lists them.`;
}

async function act(words: string[]): Promise<number> {
  const name = Object.keys(commands).find((each) => each === words.slice(0, each.split(' ').length).join(' '));
  if (name === undefined) return withoutCommand(words);
  const command = await commands[name]!();
  const given = read(command, words.slice(name.split(' ').length));
  if (given.switches.help) {
    console.log(`${command.summary}.\n\n${command.help}`);
    return 0;
  }
  const config = readConfig(process.env);
  if (servers.includes(name)) return await command.run(given, config);
  return await actingAs({ id: -1, name, class: 'CLI', only: command.audits }, () => command.run(given, config));
}

async function withoutCommand(words: string[]): Promise<number> {
  if (words[0] === '--version') {
    console.log(productVersion);
    return 0;
  }
  if (words.includes('--help') || words.includes('-h')) {
    console.log(await overview());
    return 0;
  }
  const problem = words.length === 0 ? 'Name a command.' : `There is no command “${words.join(' ')}”.`;
  throw new UsageError(`${problem}\n\n${await overview()}`);
}

function read(command: Command, args: string[]): Arguments {
  try {
    const { values, positionals } = parseArgs({
      args,
      options: { ...command.options, help: { type: 'boolean', short: 'h' } },
      allowPositionals: command.operand !== undefined,
    });
    const isNamed = positionals.length === 1 || (command.operand_is_optional && positionals.length === 0);
    if (command.operand !== undefined && !isNamed && !values.help) throw new UsageError(`Name one ${command.operand}.`);
    const given: Arguments = {
      text: {},
      switches: {},
      lists: {},
      ...(positionals.length > 0 && { operand: positionals[0]! }),
    };
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
  if (error instanceof BlobStoreError) {
    console.error(`The store of COPPICE_BLOBS cannot be used: ${error.message}.`);
    return 1;
  }
  if (isFull(error)) {
    console.error(`The disk of the database is full: ${(error as Error).message}. Make room and try again.`);
    return 1;
  }
  if (hasLostDatabase(error)) {
    const { message, code } = error as NodeJS.ErrnoException;
    console.error(`The database was lost, or cannot work now: ${message || code}. Try again when it is back.`);
    return 1;
  }
  const isForOperator = [OperatorError, DatabaseError, MigrationError, SecretKeyError].some(
    (kind) => error instanceof kind,
  );
  console.error(isForOperator ? (error as Error).message : error);
  return 1;
}

/**
 * Runs a command line and prints its errors. Output without a reader is dropped, so that a server continues without it.
 * @param words the command line without the program
 * @returns the exit code
 */
export function run(words: string[]): Promise<number> {
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => {});
  return act(words).catch(explain);
}
