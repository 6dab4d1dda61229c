terraform {
  required_version = ">= 1.8"
}

locals {
  stamp = "x"
}

# Who may do it.
variable "tags" {
  type = map(string)
}

resource "aws_iam_role" "job" {
  name = "job-${var.tags}"
  dynamic "inline_policy" {
    for_each = var.tags
  }
}

data "aws_iam_role" "job" { name = "job" }
module "net" { source = "./net" }
output "arn" { value = aws_iam_role.job.arn }
provider "aws" { alias = "west" }
moved {
  from = a.b
  to   = a.c
}
