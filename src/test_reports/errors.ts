/** The report cannot be read. The message is a reason for the person who wrote it. */
export class UnreadableReport extends Error {
  override name = 'UnreadableReport';
}
