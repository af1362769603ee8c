// The small process of small_process.ts, which it ends with.
import { execFile } from 'node:child_process';
import type { ProgramReply, ProgramRequest } from './small_process.ts';

process.on('message', ({ id, program, args, options, input }: ProgramRequest) => {
  const child = execFile(program, args, { ...options, maxBuffer: 256 * 1024 * 1024 }, (error, stdout, stderr) => {
    const code = error === null ? 0 : Number(error.code ?? 1);
    process.send!({ id, code, stdout, stderr } satisfies ProgramReply);
  });
  child.stdin?.end(input);
});
