/** When processes cannot make one site together (docs/operating.md#more-than-one-machine). Pure functions. */

/** What a process says of itself. */
export interface NodeFacts {
  name: string;
  host: string;
  url: string;
  /** What it does. */
  roles: readonly ('requests' | 'jobs')[];
  /** Identifies its data folder; null if it has none that can be written. */
  data_id: string | null;
}

/** Another process that has lately said that it runs. */
export interface LivingNode extends Omit<NodeFacts, 'roles'> {
  roles: readonly string[];
  /** Whole seconds since it did. */
  silent_s: number;
}

/** How long a process counts as running after it last said so. */
export const lifetime_s = 30;
/** How far clocks may be apart. */
const mostApart_s = 60;

const answers = ({ roles }: Pick<LivingNode, 'roles'>) => roles.includes('requests');

function problemBetween(own: NodeFacts, other: LivingNode): string | undefined {
  if (other.name === own.name)
    return other.host === own.host
      ? undefined
      : `Another server with the node name ${own.name} runs on ${other.host}. Give each its own COPPICE_NODE_NAME.`;
  if (other.url !== own.url)
    return `The server ${other.name} has the address ${other.url}, and this one ${own.url}. Give all servers the same COPPICE_URL.`;
  if (answers(own) && answers(other) && own.data_id !== null && other.data_id === own.data_id)
    return `The server ${other.name} uses the same data folder. Give each its own COPPICE_DATA; if the folder was copied, delete node_id in the copy.`;
  return undefined;
}

/**
 * Why a process must not start.
 * @param ahead_s how far the clock of its machine is ahead of the clock of the database, in seconds
 * @returns a sentence, or undefined if it may
 */
export function nodeProblem(own: NodeFacts, others: readonly LivingNode[], ahead_s: number): string | undefined {
  if (Math.abs(ahead_s) > mostApart_s)
    return `The clock of this machine is ${Math.round(Math.abs(ahead_s))} seconds ${ahead_s > 0 ? 'ahead of' : 'behind'} the clock of the database. Synchronise both.`;
  for (const other of others) {
    const problem = problemBetween(own, other);
    if (problem)
      return `${problem} ${other.name} was seen ${other.silent_s} seconds ago; a server that has ended without notice counts for ${lifetime_s} seconds.`;
  }
  return undefined;
}
