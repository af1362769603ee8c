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
  /** What the word after the command is, in capital letters, if it needs one. */
  operand?: string;
  /** Whether it may be left out. */
  operand_is_optional?: true;
  /**
   * @returns the exit code
   * @throws UsageError for options that do not fit, and OperatorError for problems that the operator can fix
   */
  run(given: Arguments, config: Config): Promise<number>;
}

/** Invalid options; the program exits with code 2. */
export class UsageError extends Error {}

/** A problem outside the program; it prints this sentence and exits with code 1. */
export class OperatorError extends Error {}

/**
 * The value of an option that must be given.
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
