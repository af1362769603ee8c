/** Starts programs for tests from a small process: starting one copies the memory map of the process that does it, which takes a large one tens of milliseconds. */
import { type ChildProcess, type ExecFileOptions, fork } from 'node:child_process';
import path from 'node:path';

export interface ProgramRequest {
  id: number;
  program: string;
  args: readonly string[];
  options: Pick<ExecFileOptions, 'cwd' | 'env'>;
  input: string | undefined;
}

export interface ProgramResult {
  /** 1 after a signal. */
  code: number;
  stdout: string;
  stderr: string;
}

export type ProgramReply = ProgramResult & { id: number };

const running = new Map<number, (result: ProgramResult) => void>();
let starter: ChildProcess | undefined;
let lastId = 0;

function open(): ChildProcess {
  const child = fork(path.join(import.meta.dirname, 'program_starter.ts'), { serialization: 'advanced', execArgv: [] });
  child.on('message', ({ id, ...result }: ProgramReply) => {
    running.get(id)?.(result);
    running.delete(id);
    if (running.size === 0) child.channel?.unref();
  });
  // It ends with this process, and does not keep it alive.
  child.unref();
  return child;
}

/** Runs a program until it ends. What it prints is read as UTF-8, up to 256 MiB. */
export function runProgram(
  program: string,
  args: readonly string[],
  { input, ...options }: ProgramRequest['options'] & { input?: string | undefined },
): Promise<ProgramResult> {
  starter ??= open();
  const child = starter;
  child.channel?.ref();
  const id = ++lastId;
  return new Promise((resolve) => {
    running.set(id, resolve);
    child.send({ id, program, args, options, input } satisfies ProgramRequest);
  });
}
