import type { ParseArgsConfig } from 'node:util';
import type { Config } from '../config.ts';

/** The options of a command line: texts, switches, and texts that may be repeated. */
export interface Arguments {
  text: { [option: string]: string | undefined };
  switches: { [option: string]: boolean | undefined };
  lists: { [option: string]: string[] | undefined };
  /** The word after the command, if it takes one. */
  operand?: string;
}

/** A command of the executable. */
export interface Command {
  /** One line for the list of commands. */
  summary: string;
  /** What `--help` prints below the summary. */
  help: string;
  options: NonNullable<ParseArgsConfig['options']>;
  /** The name of the argument after the command, in capital letters, if it takes one. */
  operand?: string;
  /** Whether the argument is optional. */
  operand_is_optional?: true;
  /** The audit events that it leaves; by default all that its changes leave. */
  audits?: readonly string[];
  /**
   * @returns the exit code
   * @throws UsageError for options that do not fit, and OperatorError for problems that the operator can fix
   */
  run(given: Arguments, config: Config): Promise<number>;
}

/** Invalid options; the program exits with code 2. */
export class UsageError extends Error {}

/** A problem outside the program: its message is printed, and the process exits with code 1. */
export class OperatorError extends Error {}

/**
 * The value of a required option.
 * @throws UsageError when it is missing
 */
export function required(given: Arguments, option: string): string {
  const value = given.text[option];
  if (!value) throw new UsageError(`The option --${option} is missing.`);
  return value;
}

/**
 * @param text like `2027-01-01`
 * @throws UsageError when it is no day of the calendar
 */
export function readDay(text: string): string {
  const day = new Date(`${text}T00:00:00Z`);
  const isDay =
    /^(?!0000)\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text);
  if (!isDay) throw new UsageError(`“${text}” is not a day like 2027-01-01.`);
  return text;
}
