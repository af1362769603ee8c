// The messages between the runner and its processes.

/** A process that is larger takes no further file: a few of them are to fit into the memory of a small machine. */
export const largest_bytes = 700 * 1024 * 1024;

/** The next file, below the top folder; without one the process ends. */
export interface ToWorker {
  file?: string;
}

/** An event of node:test; each type has members of its own. */
export interface TestEvent {
  type: string;
  data: {
    nesting: number;
    name?: string;
    testId?: number;
    message?: string;
    skip?: unknown;
    todo?: unknown;
    details?: { duration_ms: number; type?: string; error?: Failure };
  };
}

/** An error as it is printed, since errors lose their kind on the way from one process to another. */
export interface Failure {
  text: string;
  failureType?: string;
}

/** Asks for the next file. */
export interface Ready {
  type: 'ready';
  /** The memory of the process. */
  resident_bytes: number;
}

export type FromWorker = Ready | TestEvent;
