-- Whose rule a mail tells of; null of what earlier versions have left waiting.
ALTER TABLE mails ADD COLUMN organization_id TEXT;
