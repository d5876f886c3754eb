"""What may not be touched, and how that is enforced: protected content, corpora, waivers, approvals."""
