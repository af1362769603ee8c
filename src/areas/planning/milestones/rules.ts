/** Validation of milestones. */

const maximumTitle = 255;
const maximumDescription = 1024 * 1024;

/** A milestone as it would be stored. */
export interface MilestoneFields {
  title: string;
  description: string | null;
  start_date: string | null;
  due_date: string | null;
}

/** Reasons against a milestone, by field; valid fields are omitted. */
export function milestoneReasons({
  title,
  description,
  start_date,
  due_date,
}: MilestoneFields): Record<string, string[]> {
  const reasons: Record<string, string[]> = {};
  if (title === '') reasons.title = ["can't be blank"];
  if (title.length > maximumTitle) reasons.title = [`is too long (maximum is ${maximumTitle} characters)`];
  if ((description?.length ?? 0) > maximumDescription)
    reasons.description = [`is too long (maximum is ${maximumDescription} characters)`];
  // All years have four digits, so text order is date order.
  if (start_date !== null && due_date !== null && due_date <= start_date)
    reasons.due_date = ['must be greater than start date'];
  return reasons;
}
